/** The narrowing of rules, switches and figures: the stricter of the two sides holds. */
import { ENFORCEMENTS } from '../contracts/classes.ts';
import type { Budgets, ChildSettings, Limits, Registry, ToolSettings, Validator } from '../contracts/registry.ts';
import { shownNames } from '../text/shown-names.ts';
import { freezeMap } from './freeze.ts';
import { isWritten, type Narrowing, placeEntry } from './narrowing.ts';

/** Host's first, in its order. A session can add rules and strengthen levels. */
export function narrowValidators(narrowing: Narrowing): ReadonlyMap<string, Validator> {
  const { host, session } = narrowing;
  const result = new Map<string, Validator>();
  for (const rule of new Set([...host.validators.keys(), ...session.validators.keys()])) {
    const own = session.validators.get(rule);
    const given = host.validators.get(rule);
    const weaker = own !== undefined && given !== undefined && strictness(own) > strictness(given);
    if (weaker) {
      const path = `validators.${rule}.enforcement`;
      narrowing.overreach.push({ path, message: `Rule is ${given.enforcement} at the host: ${rule}` });
    }
    const validator = weaker ? given : (own ?? given);
    if (validator === undefined) continue;
    const spot = (validator === own ? session : host).spot(`validators.${rule}`);
    placeEntry(narrowing, 'validators', { index: result.size, name: rule, spot });
    result.set(rule, validator);
  }
  return freezeMap(result);
}

/** Smaller is stricter. */
function strictness({ enforcement }: Validator): number {
  return ENFORCEMENTS.indexOf(enforcement);
}

export function narrowGit({ host, session, overreach }: Narrowing): Registry['git'] {
  if (session.git.allow_push && !host.git.allow_push) {
    overreach.push({ path: 'git.allow_push', message: 'Push is not allowed by the host' });
  }
  if (session.git.allow_force_push && !host.git.allow_force_push) {
    overreach.push({ path: 'git.allow_force_push', message: 'Forced push is not allowed by the host' });
  }
  if (!session.git.require_clean_tree_for_commit && host.git.require_clean_tree_for_commit) {
    const path = 'git.require_clean_tree_for_commit';
    overreach.push({ path, message: 'Clean tree is required by the host' });
  }
  const added = session.git.allow_config.filter((key) => !host.git.allow_config.includes(key));
  if (added.length > 0) {
    const message = `Repository configuration is not allowed by the host: ${shownNames(added)}`;
    overreach.push({ path: 'git.allow_config', message });
  }
  const named = Object.entries(session.git.credentials).filter(([at, name]) => host.git.credentials[at] !== name);
  if (named.length > 0) {
    overreach.push({ path: 'git.credentials', message: "Credentials are the host's to name" });
  }
  return {
    allow_push: host.git.allow_push && session.git.allow_push,
    allow_force_push: host.git.allow_force_push && session.git.allow_force_push,
    require_clean_tree_for_commit: host.git.require_clean_tree_for_commit || session.git.require_clean_tree_for_commit,
    allow_config: host.git.allow_config.filter((key) => session.git.allow_config.includes(key)),
    credentials: Object.fromEntries(
      Object.entries(host.git.credentials).filter(([at, name]) => session.git.credentials[at] === name),
    ),
  };
}

/** Language and formatting are preferences; the check after edits is a guard. */
export function narrowAst({ host, session }: Narrowing): Registry['ast'] {
  const language = session.ast.language ?? host.ast.language;
  const formatting = isWritten(session, 'ast.format_on_save') ? session : host;
  return {
    ...(language === undefined ? {} : { language }),
    format_on_save: formatting.ast.format_on_save,
    validate_on_edit: host.ast.validate_on_edit || session.ast.validate_on_edit,
  };
}

export function narrowIsolation({ host, session, overreach }: Narrowing): Registry['isolation'] {
  if (session.isolation === 'none' && host.isolation !== 'none') {
    overreach.push({ path: 'isolation', message: 'Isolation cannot be switched off: the host requires it' });
  }
  return host.isolation === 'none' && session.isolation === 'none' ? 'none' : 'bubblewrap';
}

/** The stronger level holds. */
export function narrowDurability({ host, session, overreach }: Narrowing): Registry['durability'] {
  if (host.durability === 'full' && session.durability === 'normal' && isWritten(session, 'durability')) {
    overreach.push({ path: 'durability', message: 'Durability cannot be lowered: the host requires full' });
  }
  return host.durability === 'full' || session.durability === 'full' ? 'full' : 'normal';
}

/** What is deleted, and when, is the operator's to say: records of a session outlive it. */
export function narrowRetention({ host, session, overreach }: Narrowing): Registry['retention'] {
  for (const key of Object.keys(host.retention) as (keyof Registry['retention'])[]) {
    const path = `retention.${key}`;
    if (session.retention[key] === host.retention[key] || !isWritten(session, path)) continue;
    overreach.push({ path, message: `Retention is the host's to say: ${path} is ${host.retention[key]}` });
  }
  return host.retention;
}

/** A command is a program to run: only the host names those, and where both do the host's is used. */
export function narrowCommands({ host, session, overreach, notes }: Narrowing): Registry['commands'] {
  for (const [name, command] of Object.entries(session.commands)) {
    const path = `commands.${name}`;
    if (!Object.hasOwn(host.commands, name)) {
      overreach.push({ path, message: `Command is not one of the host's: ${name}` });
    } else if (host.commands[name] !== command) {
      notes.push({ path, message: `Command of the host is used instead: ${name}` });
    }
  }
  return host.commands;
}

/** Wider test globs let more changes count as tested, so they are the host's to say wherever it sets rules. */
export function narrowTestGlobs({ host, session, overreach }: Narrowing): readonly string[] {
  if (host.testGlobs.length === 0 && host.validators.size === 0) return session.testGlobs;
  const added = session.testGlobs.filter((glob) => !host.testGlobs.includes(glob));
  if (added.length > 0) overreach.push({ path: 'test_globs', message: "Test globs are not the host's" });
  return host.testGlobs;
}

/** An exception lets something through that looks like a secret: only the host makes them. */
export function narrowSecrets({ host, session, overreach }: Narrowing): Registry['secrets'] {
  const added = session.secrets.allow.filter((hash) => !host.secrets.allow.includes(hash));
  if (added.length > 0) {
    overreach.push({ path: 'secrets.allow', message: "Exceptions of the secrets scan are the host's to make" });
  }
  return host.secrets;
}

interface Figure {
  readonly path: string;
  readonly own: number | undefined;
  /** The host's figure, or what stands in for it where the host sets none. */
  readonly limit: number | undefined;
}

/** True when the session's figure may be used. */
function isWithin({ session, overreach }: Narrowing, { path, own, limit }: Figure): boolean {
  if (own === undefined) return false;
  if (limit !== undefined && own <= limit) return true;
  if (!isWritten(session, path)) return false;
  const allowed = limit === undefined ? 'it sets none to compare with' : `at most ${limit}`;
  overreach.push({ path, message: `Limit is above the host's: ${path} (${allowed})` });
  return false;
}

export function narrowLimits(narrowing: Narrowing): Limits {
  const lower = (key: Exclude<keyof Limits, 'max_commands'>): number => {
    const [own, limit] = [narrowing.session.limits[key], narrowing.host.limits[key]];
    return isWithin(narrowing, { path: `limits.${key}`, own, limit }) ? own : limit;
  };
  const { host, session } = narrowing;
  const [own, given] = [session.limits.max_commands, host.limits.max_commands];
  const isLess = isWithin(narrowing, { path: 'limits.max_commands', own, limit: given ?? Number.POSITIVE_INFINITY });
  const maxCommands = isLess ? own : given;
  return {
    max_in_flight: lower('max_in_flight'),
    lock_wait_ms: lower('lock_wait_ms'),
    max_request_bytes: lower('max_request_bytes'),
    approval_timeout_ms: lower('approval_timeout_ms'),
    max_jobs: lower('max_jobs'),
    max_workspace_jobs: lower('max_workspace_jobs'),
    ...(maxCommands === undefined ? {} : { max_commands: maxCommands }),
  };
}

export function narrowChildren(narrowing: Narrowing): ChildSettings {
  const { host, session, overreach } = narrowing;
  const [own, limit] = [session.children.max_children, host.children.max_children];
  const isLess = isWithin(narrowing, { path: 'children.max_children', own, limit });
  if (session.children.allow_detach && !host.children.allow_detach) {
    overreach.push({ path: 'children.allow_detach', message: 'Children may not be detached by the host' });
  }
  return {
    max_children: isLess ? own : limit,
    allow_detach: host.children.allow_detach && session.children.allow_detach,
  };
}

export function narrowBudgets(narrowing: Narrowing): Budgets {
  const result: Record<string, number> = {};
  for (const key of ['max_calls', 'max_bytes', 'max_duration_ms'] as const) {
    const [own, given] = [narrowing.session.budgets[key], narrowing.host.budgets[key]];
    const limit = given ?? Number.POSITIVE_INFINITY;
    const value = isWithin(narrowing, { path: `budgets.${key}`, own, limit }) ? own : given;
    if (value !== undefined) result[key] = value;
  }
  return result;
}

/** `defaults`: the tools' own time limits, which hold where the host's registry sets none. */
export function narrowTools(
  narrowing: Narrowing,
  defaults: ReadonlyMap<string, number>,
): ReadonlyMap<string, ToolSettings> {
  const { host, session } = narrowing;
  const names = new Set([...host.tools.keys(), ...session.tools.keys()]);
  return freezeMap(new Map([...names].map((name) => [name, narrowTool(narrowing, name, defaults.get(name))] as const)));
}

function narrowTool(narrowing: Narrowing, name: string, usualMs: number | undefined): ToolSettings {
  const { host, session, overreach } = narrowing;
  const given = host.tools.get(name) ?? { enabled: true };
  const own = session.tools.get(name) ?? { enabled: true };
  if (own.enabled && !given.enabled && isWritten(session, `tools.${name}.enabled`)) {
    overreach.push({ path: `tools.${name}.enabled`, message: `Tool is switched off by the host: ${name}` });
  }
  const timeLimit = given.timeout_ms ?? usualMs;
  const timeout = { path: `tools.${name}.timeout_ms`, own: own.timeout_ms, limit: timeLimit };
  const longest = {
    path: `tools.${name}.max_timeout_ms`,
    own: own.max_timeout_ms,
    limit: given.max_timeout_ms ?? timeLimit,
  };
  const maxMs = isWithin(narrowing, longest) ? own.max_timeout_ms : given.max_timeout_ms;
  const askedMs = isWithin(narrowing, timeout) ? own.timeout_ms : given.timeout_ms;
  const timeoutMs = askedMs === undefined || maxMs === undefined ? askedMs : Math.min(askedMs, maxMs);
  return {
    enabled: given.enabled && own.enabled,
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
    ...(maxMs === undefined ? {} : { max_timeout_ms: maxMs }),
  };
}
