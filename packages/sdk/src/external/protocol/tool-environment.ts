/**
 * The environment of an external tool: built from nothing, plus the variables of the protocol, under the names of its
 * profile. Of the host's own variables it gets the language, the time zone and what the operator listed.
 */
import type { ExternalProfile, ExternalToolSettings } from '../../contracts/external.ts';
import { baseEnvironment, MAX_VALUE_BYTES, type PrivatePlaces } from '../../shell/environment.ts';
import { PROTOCOL_VERSION } from './protocol-constants.ts';

export type HostEnvironment = Readonly<Record<string, string | undefined>>;

/** What one run passes to the tool. Paths are absolute. */
export interface RunFacts {
  readonly runId: string;
  readonly runFolder: string;
  readonly startedAt: string;
  readonly projectRoot: string;
  readonly packPath?: string;
  readonly packDigest?: string;
  readonly configPath?: string;
  /** JSON text; in the environment only while it is short. */
  readonly inputs?: string;
  readonly inputsPath?: string;
}

export interface ToolEnvironmentSetting {
  readonly settings: Pick<ExternalToolSettings, 'name' | 'profile' | 'secrets' | 'network'>;
  readonly host: HostEnvironment;
  readonly wrapperVersion: string;
}

/** Where a profile's name is not its prefix and ours. */
const OTHER_NAMES: Readonly<Record<ExternalProfile, Readonly<Record<string, string>>>> = {
  neutral: { NAME: 'TOOL_NAME', CONFIG: 'TOOL_CONFIG' },
  epack: { NAME: 'EPACK_TOOL_NAME', CONFIG: 'EPACK_TOOL_CONFIG' },
};
const PREFIXES: Readonly<Record<ExternalProfile, string>> = { neutral: 'TOOL_', epack: 'EPACK_' };
const TIME_ZONE = /^[A-Za-z0-9_+/:.-]{1,64}$/;
const PROXIES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Variables of the protocol, and those that make the loader or a shell run something else. */
const RESERVED = /^(?:EPACK_|TOOL_|LD_|DYLD_|_)/i;
/** Part of the environment every tool gets; another value would move its programs or its temporary files. */
const FIXED = /^(?:PATH|HOME|TMPDIR|SHELL|IFS|ENV|BASH_ENV)$/i;

function named(profile: ExternalProfile, name: string): string {
  return OTHER_NAMES[profile][name] ?? `${PREFIXES[profile]}${name}`;
}

function protocolVariables(
  profile: ExternalProfile,
  values: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const set = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(set.map(([name, value]) => [named(profile, name), value]));
}

/** For a run. */
export function runEnvironment(
  { settings, host, wrapperVersion }: ToolEnvironmentSetting,
  facts: RunFacts,
  places: PrivatePlaces,
): Record<string, string> {
  const { profile } = settings;
  const isShort = facts.inputs !== undefined && Buffer.byteLength(facts.inputs) <= MAX_VALUE_BYTES;
  return {
    ...restrictedEnvironment(host, places),
    ...secretsOf(settings, host),
    ...protocolVariables(profile, {
      RUN_ID: facts.runId,
      RUN_DIR: facts.runFolder,
      STARTED_AT: facts.startedAt,
      NAME: settings.name,
      PROTOCOL_VERSION: String(PROTOCOL_VERSION),
      WRAPPER_VERSION: wrapperVersion,
      PROJECT_ROOT: facts.projectRoot,
      PACK_PATH: facts.packPath,
      PACK_DIGEST: facts.packDigest,
      CONFIG: facts.configPath,
      INPUTS: isShort ? facts.inputs : undefined,
      INPUTS_FILE: facts.inputsPath,
      JSON: '1',
      IDENTITY: host[named(profile, 'IDENTITY')] || undefined,
    }),
  };
}

/** For asking a tool for its capabilities: of the host's variables only the language. */
export function probeEnvironment(
  { settings, host, wrapperVersion }: ToolEnvironmentSetting,
  places: PrivatePlaces,
): Record<string, string> {
  return {
    ...restrictedEnvironment(host, places),
    ...protocolVariables(settings.profile, {
      MODE: 'capabilities',
      NAME: settings.name,
      PROTOCOL_VERSION: String(PROTOCOL_VERSION),
      WRAPPER_VERSION: wrapperVersion,
    }),
  };
}

function restrictedEnvironment(host: HostEnvironment, places: PrivatePlaces): Record<string, string> {
  const zone = host['TZ'];
  return { ...baseEnvironment(host, places), ...(zone !== undefined && TIME_ZONE.test(zone) ? { TZ: zone } : {}) };
}

/** Name → value of the listed variables that are set. Reserved names are skipped. */
export function secretsOf(
  { secrets }: Pick<ExternalToolSettings, 'secrets'>,
  host: HostEnvironment,
): Record<string, string> {
  const set = secrets.flatMap((name) => {
    const value = host[name];
    return value === undefined || value === '' || secretNameProblem(name) !== undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(set);
}

/** The host's proxies, for tools that reach the network without ours; without user and password. */
export function proxyVariables(host: HostEnvironment): Record<string, string> {
  const set = PROXIES.flatMap((name) => {
    const value = host[name];
    return value === undefined || value === ''
      ? []
      : [[name, value.replace(/^([a-z][a-z0-9+.-]*:\/\/)?[^/?#]*@/i, '$1')]];
  });
  return Object.fromEntries(set);
}

/**
 * Which variables of the host may be given to a tool by name. Values are never looked at here. Undefined when the name
 * may be used.
 */
export function secretNameProblem(name: string): string | undefined {
  if (!NAME.test(name)) return 'Not the name of a variable';
  if (RESERVED.test(name)) return `Name of a secret is reserved: ${name} (not EPACK_, TOOL_, LD_, DYLD_ or _ first)`;
  return FIXED.test(name) ? `Variable is set by the runtime: ${name}` : undefined;
}
