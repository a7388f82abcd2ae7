/**
 * Who ran it and where, filled in from the environment of the wrapper.
 *
 * Only blanks are filled: what the tool wrote about itself stays, and is its word, not ours. Repository addresses lose
 * the credentials CI systems like to put into them.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { ExternalProfile, RunIdentity, RunResult } from '../../contracts/external.ts';
import { detectCi, type RunEnvironment } from './detect-ci.ts';

export interface Runner {
  /** `process.platform` and `process.arch`. */
  readonly platform: string;
  readonly arch: string;
  readonly profile: ExternalProfile;
}

const IDENTITY_VARIABLES: Readonly<Record<ExternalProfile, string>> = {
  neutral: 'TOOL_IDENTITY',
  epack: 'EPACK_IDENTITY',
};
const IDENTITY_FIELDS = ['workspace', 'actor', 'actor_type', 'auth_mode'] as const;
const ACTOR_TYPES = ['user', 'service', 'ci', 'unknown'];
const AUTH_MODES = ['interactive', 'api_key', 'ci_token'];

/** Node's names to those of the protocol (Go's); the rest are the same. */
const OS_NAMES: Readonly<Record<string, string>> = { win32: 'windows', sunos: 'solaris' };
const ARCH_NAMES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

export function enrichResult<Result extends RunResult>(
  result: Result,
  env: RunEnvironment,
  runner: Runner,
): { readonly result: Result; readonly changed: boolean } {
  const identity = identityOf(env[IDENTITY_VARIABLES[runner.profile]] ?? '', result.identity);
  const context = {
    ...detectCi(env),
    runner_os: OS_NAMES[runner.platform] ?? runner.platform,
    runner_arch: ARCH_NAMES[runner.arch] ?? runner.arch,
  };
  const filledIdentity = fillBlanks(result.identity, identity);
  const filledContext = fillBlanks(result.run_context, { ...context, repo: withoutCredentials(context.repo) });
  return {
    result: { ...result, ...present('identity', filledIdentity), ...present('run_context', filledContext) },
    changed: filledIdentity !== result.identity || filledContext !== result.run_context,
  };
}

/** A JSON object names the fields; any other text is the actor, whose kind nobody knows. */
function identityOf(text: string, known: RunIdentity | undefined): RunIdentity {
  if (text === '') return {};
  const fields = readIdentity(text);
  if (fields !== undefined) return fields;
  return known?.actor ? {} : { actor: text, actor_type: 'unknown' };
}

function readIdentity(text: string): RunIdentity | undefined {
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    // Not JSON is the other form this variable may have.
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const fields = IDENTITY_FIELDS.map((name) => [name, (value as JsonObject)[name] ?? ''] as const);
  return fields.every(([, found]) => typeof found === 'string') ? inWords(Object.fromEntries(fields)) : undefined;
}

/** Only the words the protocol has. */
function inWords({ actor_type = '', auth_mode = '', ...rest }: RunIdentity): RunIdentity {
  const type = actor_type === '' || ACTOR_TYPES.includes(actor_type) ? actor_type : 'unknown';
  return { ...rest, actor_type: type, auth_mode: AUTH_MODES.includes(auth_mode) ? auth_mode : '' };
}

type Blank = undefined | '' | false;

/** The same object when nothing was blank that could be filled. */
function fillBlanks<Info extends object>(
  known: Info | undefined,
  found: { readonly [Field in keyof Info]?: Info[Field] | Blank },
): Info | undefined {
  const current = (known ?? {}) as Record<string, unknown>;
  const missing = Object.entries(found).filter(([name, value]) => Boolean(value) && !current[name]);
  return missing.length === 0 ? known : ({ ...current, ...Object.fromEntries(missing) } as Info);
}

function present<Name extends string, Value>(name: Name, value: Value | undefined): { [Key in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { [Key in Name]?: Value };
}

/** `https://user:token@host/x` → `https://host/x`. */
function withoutCredentials(address: string | undefined): string | undefined {
  return address?.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1');
}
