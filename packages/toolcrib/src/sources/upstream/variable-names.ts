import { CribError } from '../../model/crib-error.ts';

/**
 * [ENV-3] The variables of our own environment that every child process gets: the places of programs, the home and temporary files, and the
 * language. npm and uv derive their caches and settings from these; the XDG folders are for homes that cannot be written to.
 */
export const baseNames: readonly string[] = 'PATH HOME LANG LC_ALL LC_CTYPE TZ TMPDIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME'
  // The operator's own certificate authorities: networks that need them cannot fetch packages without these.
  .concat(' NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR')
  // Without these nothing starts on Windows.
  .concat(process.platform === 'win32' ? ' SystemRoot SystemDrive ComSpec PATHEXT TEMP TMP USERPROFILE APPDATA LOCALAPPDATA' : '')
  .split(' ');

const form = /^[A-Za-z_][A-Za-z0-9_]{0,199}$/;

/** [ENV-6] These make any program run arbitrary code. npm reads its settings in upper and lower case. */
const never = /^(NODE_OPTIONS|LD_.*|DYLD_.*|npm_config_.*)$/i;

/**
 * These make some programs run arbitrary code, or change what is trusted and where packages come from. For a program that has many of them,
 * and new ones with each version, every name with its prefix counts, except a few that are known to be harmless.
 */
const risky = [
  // The places of programs, their settings and their code caches.
  /^(PATH|PATHEXT|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|ComSpec|SHELL|TMPDIR|TMP|TEMP|PREFIX|XDG_.*)$/i,
  // Trusted hosts and certificates, and proxies.
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
  // Shells, and programs that other programs start for people, such as editors.
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

/** Credentials do not decide what is run, whatever their prefix: `DOCKER_HUB_TOKEN`. */
const credential = /_(TOKEN|API_KEY|PASSWORD)$/i;

/** Whether the variable decides which code is run or trusted. */
export function isRiskyVariable(name: string): boolean {
  return never.test(name) || (!credential.test(name) && risky.some((pattern) => pattern.test(name)));
}

export function checkVariableName(name: string, field: string, allowRisky: boolean): void {
  if (!form.test(name)) {
    throw new CribError('VALIDATION_ERROR', 'The name of a variable has only letters, digits and `_`, and does not begin with a digit', {
      field,
    });
  }
  if (never.test(name)) {
    throw new CribError('VALIDATION_ERROR', `${name} can make programs run other code, so no source may set it`, { field });
  }
  if (!allowRisky && isRiskyVariable(name)) {
    throw new CribError('FORBIDDEN', `${name} decides which code is run or trusted: setting it needs the permission to run commands`, {
      field,
    });
  }
}
