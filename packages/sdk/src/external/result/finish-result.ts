/**
 * The last step of every result, however the run ended: who ran it and where, then the digest over the final content.
 *
 * Who and where come from the wrapper's environment and fill only what the tool left blank. CI systems are recognized
 * by the variables each sets; the first match in the list wins. Credentials in repository addresses are removed.
 */

import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { ExternalProfile, RunContext, RunIdentity, RunResult } from '../../contracts/external.ts';
import { runDigest } from './new-result.ts';

export type FinishResult = <Result extends RunResult>(result: Result) => Result;

/** `env` is the wrapper's own environment, not the one the tool was given. */
export function createFinish(env: RunEnvironment, runner: Runner): FinishResult {
  return (result) => {
    const { result: enriched } = enrichResult(result, env, runner);
    return { ...enriched, run_digest: runDigest(enriched) };
  };
}

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

/** A JSON object names the fields; any other text is the actor, of unknown kind. */
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

export type RunEnvironment = Readonly<Record<string, string | undefined>>;

interface CiProvider {
  readonly id: string;
  readonly isHere: (env: RunEnvironment) => boolean;
  readonly repo?: (env: RunEnvironment) => string | undefined;
  readonly commit?: (env: RunEnvironment) => string | undefined;
  readonly branch?: (env: RunEnvironment) => string | undefined;
}

const PROVIDERS: readonly CiProvider[] = [
  {
    id: 'github_actions',
    isHere: (env) => env['GITHUB_ACTIONS'] === 'true',
    repo: (env) => env['GITHUB_REPOSITORY'],
    commit: (env) => env['GITHUB_SHA'],
    branch: (env) => env['GITHUB_REF']?.replace(/^refs\/heads\//, '').replace(/^refs\/tags\//, ''),
  },
  {
    id: 'gitlab_ci',
    isHere: (env) => env['GITLAB_CI'] === 'true',
    repo: (env) => env['CI_PROJECT_URL'],
    commit: (env) => env['CI_COMMIT_SHA'],
    branch: (env) => env['CI_COMMIT_REF_NAME'],
  },
  {
    id: 'circleci',
    isHere: (env) => env['CIRCLECI'] === 'true',
    repo: (env) => env['CIRCLE_REPOSITORY_URL'] || ownerAndProject(env),
    commit: (env) => env['CIRCLE_SHA1'],
    branch: (env) => env['CIRCLE_BRANCH'],
  },
  {
    id: 'buildkite',
    isHere: (env) => env['BUILDKITE'] === 'true',
    repo: (env) => env['BUILDKITE_REPO'],
    commit: (env) => env['BUILDKITE_COMMIT'],
    branch: (env) => env['BUILDKITE_BRANCH'],
  },
  {
    id: 'jenkins',
    isHere: (env) => Boolean(env['JENKINS_URL']),
    repo: (env) => env['GIT_URL'],
    commit: (env) => env['GIT_COMMIT'],
    branch: (env) => env['GIT_BRANCH'],
  },
  { id: 'generic', isHere: (env) => env['CI'] === 'true' },
];

/** Undefined outside CI. Blank values are there as undefined. */
function detectCi(
  env: RunEnvironment,
): { readonly [Field in keyof RunContext]: RunContext[Field] | undefined } | undefined {
  const provider = PROVIDERS.find(({ isHere }) => isHere(env));
  if (provider === undefined) return undefined;
  return {
    ci: true,
    ci_provider: provider.id,
    repo: provider.repo?.(env),
    commit: provider.commit?.(env),
    branch: provider.branch?.(env),
  };
}

function ownerAndProject(env: RunEnvironment): string | undefined {
  const [owner, project] = [env['CIRCLE_PROJECT_USERNAME'], env['CIRCLE_PROJECT_REPONAME']];
  return owner && project ? `${owner}/${project}` : undefined;
}
