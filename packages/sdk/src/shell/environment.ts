/**
 * The environment of a command: built from nothing, plus what the caller may add.
 *
 * A variable can make an allowed program run another one, so names are checked like options. Values never appear in an
 * error: they are often secrets.
 */
import { type ToolError, utf8Length } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { shellRefusal } from './refusal.ts';

/**
 * Environment variables a caller may not set, because some program obeys them: it loads code, starts another program,
 * or looks elsewhere for its settings. `*` matches anything; names are compared without case.
 */
interface VariableRule {
  readonly names: string;
  /** What it does: `loads code into every program`. */
  readonly why: string;
}

const REFUSED_VARIABLES: readonly VariableRule[] = [
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
const HARMLESS_VARIABLES =
  'CARGO_TERM_* CARGO_INCREMENTAL CARGO_BUILD_JOBS CARGO_NET_OFFLINE PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONUTF8';

/** Flags for a compiler can name a linker or a plugin; switching inherited flags off is harmless and common. */
const EMPTY_ONLY_VARIABLES = 'RUSTFLAGS RUSTDOCFLAGS CFLAGS CXXFLAGS CPPFLAGS LDFLAGS FFLAGS GOFLAGS';

/** No registry can allow these: they reach the sandbox itself, or undo what the runtime sets. */
const NEVER_ALLOWED_VARIABLES =
  'LD_* DYLD_* GLIBC_TUNABLES MALLOC_* GCONV_PATH GETCONF_DIR LOCPATH NLSPATH PATH HOME TMPDIR BASH_ENV ENV SHELLOPTS BASHOPTS *_PROXY PROXY';

const HARMLESS_NODE_OPTION =
  /^--(?:max-old-space-size|max-semi-space-size|stack-trace-limit|unhandled-rejections|max-http-header-size|test-concurrency)=[a-z0-9-]+$|^--(?:no-warnings|no-deprecation|trace-warnings|trace-deprecation|trace-uncaught|enable-source-maps|experimental-vm-modules|throw-deprecation|pending-deprecation)$/;

export const MAX_VALUE_BYTES = 32 * 1024;
export const MAX_ENVIRONMENT_BYTES = 128 * 1024;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const LOCALE = /^[A-Za-z0-9_.@-]{1,64}$/;
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** One expression for a list of names with `*`. */
function compileNames(names: string): RegExp {
  return new RegExp(`^(?:${names.replaceAll('*', '.*').split(' ').join('|')})$`);
}

const REFUSED = REFUSED_VARIABLES.map(({ names, why }) => ({ names: compileNames(names), why }));
const HARMLESS = compileNames(HARMLESS_VARIABLES);
const NEVER_ALLOWED = compileNames(NEVER_ALLOWED_VARIABLES);
const EMPTY_ONLY = compileNames(EMPTY_ONLY_VARIABLES);

interface VariableFault {
  readonly reason: string;
  readonly what: string;
  readonly next: string;
}

function refusal(variable: string, { reason, what, next }: VariableFault): ToolError {
  const name = safeText(variable, 120);
  return shellRefusal(`${what}: ${name}`, { reason, argument: 'env', variable: name, next });
}

function nameFault(name: string, value: string, allowed: RegExp | undefined): VariableFault | undefined {
  if (!NAME.test(name)) {
    const next = 'begin with a letter or _ and go on with letters, digits and _';
    return { reason: 'variable_name', what: 'Variable has no valid name', next };
  }
  const upper = name.toUpperCase();
  if (HARMLESS.test(upper) || isHarmlessValue(upper, value)) return undefined;
  if (allowed?.test(name) === true && !NEVER_ALLOWED.test(upper)) return undefined;
  if (EMPTY_ONLY.test(upper)) {
    if (value === '') return undefined;
    const next = 'give it empty, or put the flags into the settings of the project';
    return { reason: 'variable_not_empty', what: 'Variable may only be empty, its flags can name programs', next };
  }
  const rule = REFUSED.find(({ names }) => names.test(upper));
  if (rule === undefined) return undefined;
  const next = NEVER_ALLOWED.test(upper)
    ? 'leave it out; no registry can allow it'
    : `leave it out, or ask the operator to allow it: sandbox: { env: [${safeText(name, 120)}] }`;
  return { reason: 'refused_variable', what: `Variable not allowed, it ${rule.why}`, next };
}

/** Options of node that only set a limit or change what is printed. */
function isHarmlessValue(upper: string, value: string): boolean {
  return upper === 'NODE_OPTIONS' && value.split(/\s+/).every((word) => word === '' || HARMLESS_NODE_OPTION.test(word));
}

function valueFault(value: string): VariableFault | undefined {
  if (value.includes('\u0000') || !value.isWellFormed()) {
    const next = 'give well-formed text without NUL';
    return { reason: 'variable_value', what: 'Variable holds what no environment can', next };
  }
  if (utf8Length(value) <= MAX_VALUE_BYTES) return undefined;
  const next = 'put long input into a file or stdin';
  return { reason: 'variable_too_long', what: `Variable is longer than ${MAX_VALUE_BYTES} bytes`, next };
}

/**
 * Throws E_POLICY naming the first variable a caller may not set, and why. `allowed`: names the operator allows, with `*`
 * at the end for many.
 */
export function judgeEnvironment(given: Readonly<Record<string, string>>, allowed: readonly string[] = []): void {
  const opened = allowed.length === 0 ? undefined : compileNames(allowed.join(' '));
  let bytes = 0;
  for (const [name, value] of Object.entries(given)) {
    const fault = nameFault(name, value, opened) ?? valueFault(value);
    if (fault !== undefined) throw refusal(name, fault);
    bytes += utf8Length(name) + utf8Length(value) + 2;
    if (bytes <= MAX_ENVIRONMENT_BYTES) continue;
    const what = `Environment is larger than ${MAX_ENVIRONMENT_BYTES} bytes`;
    throw refusal(name, { reason: 'environment_too_large', what, next: 'put long input into a file or stdin' });
  }
}

/** Tells package managers that there is no network: they fail at once, with what they have, instead of trying for minutes. */
export const OFFLINE_VARIABLES: Readonly<Record<string, string>> = {
  npm_config_offline: 'true',
  npm_config_fetch_retries: '0',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_update_notifier: 'false',
  YARN_ENABLE_NETWORK: 'false',
  PIP_NO_INDEX: '1',
  PIP_RETRIES: '0',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  UV_OFFLINE: '1',
  POETRY_REQUESTS_MAX_RETRIES: '0',
  CARGO_NET_OFFLINE: 'true',
  GOPROXY: 'off',
  GOTOOLCHAIN: 'local',
  COMPOSER_DISABLE_NETWORK: '1',
};

export interface PrivatePlaces {
  /** An empty folder of this command's own. */
  readonly home: string;
  readonly temporary: string;
}

function locale(value: string | undefined): string | undefined {
  return value !== undefined && LOCALE.test(value) ? value : undefined;
}

/** What every command starts with. Of the host's own environment only the language survives. */
export function baseEnvironment(
  host: Readonly<Record<string, string | undefined>>,
  places: PrivatePlaces,
): Record<string, string> {
  const everything = locale(host['LC_ALL']);
  return {
    PATH: SYSTEM_PATH,
    HOME: places.home,
    TMPDIR: places.temporary,
    LANG: locale(host['LANG']) ?? 'C.UTF-8',
    ...(everything === undefined ? {} : { LC_ALL: everything }),
    TERM: 'dumb',
  };
}
