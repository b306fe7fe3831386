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

/**
 * These too, in programs of one kind, or they change what is trusted and where packages come from. Where a program has many of them, and new
 * ones with each version, all that begin like its own are here, but for the few that are known to do no harm.
 */
const risky = [
  // Where programs, their settings and their caches of code are.
  /^(PATH|PATHEXT|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|ComSpec|SHELL|TMPDIR|TMP|TEMP|PREFIX|XDG_.*)$/i,
  // Which hosts and certificates are believed, and through whom everything goes.
  /^((HTTP|HTTPS|ALL|FTP|NO)_PROXY|SSL_CERT_FILE|SSL_CERT_DIR|OPENSSL_.*|SSLKEYLOGFILE|(REQUESTS|CURL|AWS)_CA_BUNDLE|CURL_HOME|WGETRC)$/i,
  /^(HOSTALIASES|LOCALDOMAIN|RES_OPTIONS|RESOLV_.*|KRB5.*|LDAP(CONF|RC))$/i,
  // JavaScript: node, npm and their kin, bun, deno.
  /^NODE_(?!ENV$|DEBUG$|NO_WARNINGS$|DISABLE_COLORS$)/i,
  /^(npm_execpath|npm_node_execpath|INIT_CWD|YARN_.*|PNPM_.*|COREPACK_.*|(BUN|DENO|JSR|TSX|TS_NODE|ESBUILD|ELECTRON|PLAYWRIGHT|PUPPETEER)_.*)$/i,
  // Python and its package managers, and what builds packages from source.
  /^(PYTHON(?!UNBUFFERED$|UTF8$|IOENCODING$|DONTWRITEBYTECODE$|HASHSEED$)|__PYVENV_LAUNCHER__)/i,
  /^(UV|PIP|PIPX|PIPENV|POETRY|PDM|HATCH|PYENV|VIRTUAL_ENV|CONDA|SETUPTOOLS|DISTUTILS)(_|$)/i,
  /^(CC|CXX|CPP|LD|AR|LDSHARED|C_INCLUDE_PATH|LIBRARY_PATH|(C|CXX|CPP|LD|MAKE|RUST|GO)FLAGS|MAKEFILES|CMAKE_.*|PKG_CONFIG.*|RUSTC.*|CARGO_.*|RUSTUP_.*)$/i,
  /^GO(PROXY|PATH|ROOT|BIN|ENV|TOOLCHAIN|SUMDB|NOSUMDB|NOSUMCHECK|NOPROXY|PRIVATE|INSECURE|WORK)$/i,
  // Shells, and the programs that others start for people.
  /^(BASH_.*|ENV|ZDOTDIR|FPATH|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS[0-4]|IFS|CDPATH|GLOBIGNORE|INPUTRC|TERMINFO.*|TERMCAP)$/i,
  /^(EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESS(OPEN|CLOSE|KEY.*)|SUDO_.*)$/i,
  // The C library and what it loads.
  /^(GLIBC_TUNABLES|GCONV_PATH|GETCONF_DIR|LOCPATH|NLSPATH|MALLOC_.*|LIBPATH|SHLIB_PATH|GTK_.*|QT_PLUGIN_PATH|GST_.*|GIO_.*|MAGICK_.*)$/i,
  // Other languages.
  /^(RUBY|GEM_|BUNDLE_|BUNDLER_|PERL|LUA_|PHPRC$|PHP_INI|COMPOSER_|ERL_|ELIXIR_|MIX_|HEX_|JULIA_|GUILE_|TCLLIBPATH$|TCL_LIBRARY$|AWKPATH$)/i,
  /^R_(HOME|LIBS|PROFILE|ENVIRON)/i,
  /^(JAVA_|JDK_|_JAVA_OPTIONS$|JRE_HOME$|CLASSPATH$|IBM_JAVA_|OPENJ9_|MAVEN_|M2_|GRADLE_|JBANG_|SBT_)/i,
  /^(DOTNET_|CORECLR_|COR_|COMPlus_|NUGET_|ASPNETCORE_HOSTINGSTARTUP)/i,
  // Git, ssh and containers, and settings of clouds, whose files may name programs to run.
  /^GIT_(?!(AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)$|TERMINAL_PROMPT$|USERNAME$)/i,
  /^(SSH_.*|GNUPGHOME|HGRCPATH|HGEDITOR|SVN_SSH|CVS_RSH|RSYNC_RSH)$/i,
  /^(DOCKER_.*|CONTAINER_HOST|CONTAINERS_.*|CONTAINERD_.*|NERDCTL_.*|BUILDKIT_.*|BUILDX_.*|COMPOSE_.*|REGISTRY_AUTH_FILE)$/i,
  /^(KUBECONFIG|AWS_CONFIG_FILE|AWS_SHARED_CREDENTIALS_FILE|CLOUDSDK_CONFIG|CLOUDSDK_PYTHON.*|AZURE_CONFIG_DIR|GOOGLE_APPLICATION_CREDENTIALS)$/i,
];

/** Says who somebody is, not what is run, whatever it begins with: `DOCKER_HUB_TOKEN`. */
const credential = /_(TOKEN|API_KEY|PASSWORD)$/i;

/** Whether it decides which code is run or trusted. */
export function isRiskyVariable(name: string): boolean {
  return never.test(name) || (!credential.test(name) && risky.some((pattern) => pattern.test(name)));
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
