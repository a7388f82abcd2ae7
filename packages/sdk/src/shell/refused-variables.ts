/**
 * Environment variables a caller may not set, because some program obeys them: it loads code, starts another program,
 * or looks elsewhere for its settings. `*` matches anything; names are compared without case.
 */

export interface VariableRule {
  readonly names: string;
  /** What it does: `loads code into every program`. */
  readonly why: string;
}

export const REFUSED_VARIABLES: readonly VariableRule[] = [
  { names: 'LD_* DYLD_* GLIBC_TUNABLES MALLOC_* GCONV_PATH GETCONF_DIR', why: 'loads code into every program' },
  { names: 'PATH SHELL COMSPEC PATHEXT', why: 'decides which programs run' },
  { names: 'HOME USERPROFILE XDG_* TMPDIR TMP TEMP TEMPDIR PWD OLDPWD USER LOGNAME', why: 'is set by the host' },
  {
    names: 'ENV IFS PS1 PS2 PS4 PROMPT_COMMAND SHELLOPTS BASH* CDPATH GLOBIGNORE ZDOTDIR FPATH INPUTRC POSIXLY_CORRECT',
    why: 'changes what shells do',
  },
  {
    names:
      'NODE_OPTIONS NODE_PATH NODE_REPL_* NODE_CHANNEL_FD NODE_V8_COVERAGE NODE_COMPILE_CACHE NODE_ICU_DATA NODE_REDIRECT_WARNINGS NODE_PENDING_* TS_NODE_* ELECTRON_RUN_AS_NODE',
    why: 'loads code into node or writes files with it',
  },
  {
    names: 'NPM_CONFIG_* NPM_EXECPATH NPM_NODE_EXECPATH YARN_* PNPM_* COREPACK_* BUN_* DENO_* VOLTA_*',
    why: 'changes the settings of a package manager',
  },
  { names: 'PYTHON* PIP_* UV_* POETRY_* CONDA_* VIRTUAL_ENV', why: 'changes what python loads' },
  {
    names:
      'PERL* RUBYOPT RUBYLIB GEM_* BUNDLE_* PHPRC PHP_INI_SCAN_DIR COMPOSER_* LUA_* TCLLIBPATH R_* JULIA_* ERL_* ELIXIR_*',
    why: 'changes what an interpreter loads',
  },
  {
    names:
      'JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JDK_*_OPTIONS JAVA_OPTS JAVA_HOME CLASSPATH MAVEN_* GRADLE_* ANT_* SBT_* KOTLIN_* SCALA_*',
    why: 'changes what java loads',
  },
  { names: 'DOTNET_* CORECLR_* COR_* COMPLUS_* MSBUILD*', why: 'loads code into .NET programs' },
  { names: 'RUSTC* RUSTDOC* RUSTUP_* RUST_TARGET_PATH CARGO CARGO_*', why: 'names programs and settings of the build' },
  {
    names: 'GOROOT GOPATH GOENV GOPROXY GONOSUMDB GOTOOLCHAIN GOTOOLDIR GOEXE GOBIN GOMODCACHE GOCACHE GCCGO CGO_*',
    why: 'names programs and settings of the build',
  },
  {
    names:
      'CC CXX CPP FC LD AR AS NM RANLIB OBJCOPY CC_* CXX_* HOST_CC TARGET_CC MAKE MAKEFLAGS GNUMAKEFLAGS MFLAGS MAKEFILES MAKEOVERRIDES CMAKE_* CTEST_* NINJA_* PKG_CONFIG* GCC_* COMPILER_PATH LIBRARY_PATH CCACHE_* SCCACHE_* DISTCC_*',
    why: 'names programs and settings of the build',
  },
  { names: 'GIT GIT_* SSH_* GPG_* GNUPGHOME HG* SVN_*', why: 'names programs that git starts' },
  {
    names:
      '*_PROXY PROXY CURL_* WGETRC NETRC SSL_CERT_* SSLKEYLOGFILE OPENSSL_* NODE_EXTRA_CA_CERTS NODE_TLS_* REQUESTS_CA_BUNDLE RSYNC_* HOSTALIASES LOCALDOMAIN RES_OPTIONS RESOLV_*',
    why: 'changes where connections go and what they trust',
  },
  { names: 'EDITOR VISUAL *_EDITOR PAGER *PAGER BROWSER LESS* MORE SUDO_* *_ASKPASS', why: 'names a program to start' },
  {
    names:
      'RIPGREP_CONFIG_PATH GREP_* TAR_OPTIONS TAPE GZIP BZIP* XZ_* ZSTD_* ZIPOPT UNZIP* AWKPATH AWKLIBPATH FZF_* FD_* BAT_*',
    why: 'adds options to a program',
  },
  { names: 'LOCPATH NLSPATH TZDIR TERMINFO* TERMCAP TERMPATH LS_COLORS MAGIC', why: 'makes programs read other files' },
  { names: 'DOCKER_* KUBECONFIG DBUS_* DISPLAY XAUTHORITY WAYLAND_*', why: 'reaches services of the host' },
];

/** Members of a refused family that only change how much is printed or how many jobs run. */
export const HARMLESS_VARIABLES =
  'CARGO_TERM_* CARGO_INCREMENTAL CARGO_BUILD_JOBS CARGO_NET_OFFLINE PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONUTF8';

/** Flags for a compiler can name a linker or a plugin; switching inherited flags off is harmless and common. */
export const EMPTY_ONLY_VARIABLES = 'RUSTFLAGS RUSTDOCFLAGS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS FFLAGS GOFLAGS';

/** No registry can allow these: they reach the sandbox itself, or undo what the runtime sets. */
export const NEVER_ALLOWED_VARIABLES =
  'LD_* DYLD_* GLIBC_TUNABLES MALLOC_* GCONV_PATH GETCONF_DIR LOCPATH NLSPATH PATH HOME TMPDIR BASH_ENV ENV SHELLOPTS BASHOPTS *_PROXY PROXY';

export const HARMLESS_NODE_OPTION =
  /^--(?:max-old-space-size|max-semi-space-size|stack-trace-limit|unhandled-rejections|max-http-header-size|test-concurrency)=[a-z0-9-]+$|^--(?:no-warnings|no-deprecation|trace-warnings|trace-deprecation|trace-uncaught|enable-source-maps|experimental-vm-modules|throw-deprecation|pending-deprecation)$/;
