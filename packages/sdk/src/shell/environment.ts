/**
 * The environment of a command: built from nothing, plus what the caller may add.
 *
 * A variable can make an allowed program run another one, so names are checked like options. Values never appear in an
 * error: they are often secrets.
 */
import { type ToolError, utf8Length } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { shellRefusal } from './refusal.ts';
import {
  EMPTY_ONLY_VARIABLES,
  HARMLESS_NODE_OPTION,
  HARMLESS_VARIABLES,
  NEVER_ALLOWED_VARIABLES,
  REFUSED_VARIABLES,
} from './refused-variables.ts';

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
