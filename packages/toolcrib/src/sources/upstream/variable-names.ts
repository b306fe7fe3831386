import { CribError } from '../../model/crib-error.ts';

/**
 * [ENV-3] What every child is given of our own environment: where programs, the home and temporary files are, and the language. The
 * caches and settings of npm and uv follow from these; the folders named by XDG are for homes that cannot be written to.
 */
export const baseNames: readonly string[] = 'PATH HOME LANG LC_ALL LC_CTYPE TZ TMPDIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME'
  // Where the operator's own certificate authorities are: behind them no package can be fetched without these.
  .concat(' NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR')
  // Without these nothing starts on Windows.
  .concat(process.platform === 'win32' ? ' SystemRoot SystemDrive ComSpec PATHEXT TEMP TMP USERPROFILE APPDATA LOCALAPPDATA' : '')
  .split(' ');

const form = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;

/** [ENV-6] They make any program run code of somebody's choice. npm reads its settings in capitals and small letters alike. */
const never = /^(NODE_OPTIONS|LD_.*|DYLD_.*|npm_config_.*)$/i;

/** These too, in programs of one kind, or they change what is trusted and where packages come from. */
const risky = [
  /^(PATH|PATHEXT|HOME|USERPROFILE|ComSpec|SHELL|XDG_CONFIG_HOME|XDG_DATA_HOME)$/i,
  /^(NODE_PATH|NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|NODE_REPL_EXTERNAL_MODULE)$/i,
  /^PYTHON(?!UNBUFFERED$|UTF8$|IOENCODING$|DONTWRITEBYTECODE$|HASHSEED$)/i,
  /^(UV|PIP|VIRTUAL_ENV|CONDA)(_|$)/i,
  /^(BASH_ENV|ENV|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS4|IFS|GLIBC_TUNABLES|GCONV_PATH)$/i,
  /^(RUBYOPT|RUBYLIB|GEM_PATH|GEM_HOME|PERL5OPT|PERL5LIB|PERL5DB|LUA_INIT|PHPRC|PHP_INI_SCAN_DIR)$/i,
  /^(JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|_JAVA_OPTIONS|CLASSPATH|DOTNET_STARTUP_HOOKS|DENO_DIR|BUN_OPTIONS)$/i,
  /^GIT_(SSH|SSH_COMMAND|EXEC_PATH|ASKPASS|EDITOR|PAGER|CONFIG.*|TEMPLATE_DIR|PROXY_COMMAND)$/i,
  /^(DOCKER_HOST|DOCKER_CONFIG|DOCKER_CONTEXT|SSL_CERT_FILE|SSL_CERT_DIR|OPENSSL_CONF|OPENSSL_MODULES|OPENSSL_ENGINES)$/i,
];

export function isRiskyVariable(name: string): boolean {
  return risky.some((pattern) => pattern.test(name));
}

export function checkVariableName(name: string, field: string, allowRisky: boolean): void {
  if (!form.test(name)) {
    throw new CribError('VALIDATION_ERROR', 'A variable is named with letters, digits and `_`, and does not begin with a digit', { field });
  }
  if (never.test(name)) {
    throw new CribError('VALIDATION_ERROR', `${name} makes programs run other code than their own, so no source may set it`, { field });
  }
  if (!allowRisky && isRiskyVariable(name)) {
    throw new CribError('FORBIDDEN', `${name} decides which code is run or trusted: setting it needs the permission to run commands`, {
      field,
    });
  }
}
