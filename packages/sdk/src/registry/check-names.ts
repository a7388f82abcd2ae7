/**
 * Checks that need to know which rules and tools exist.
 *
 * They read the raw value and pass over what has the wrong shape: the schema reports that in the same load, and a typo
 * in one section must not hide the problems of another.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import { safeText } from '@tool-runtime/protocol/internal';
import { ENFORCEMENTS, type Enforcement } from '../contracts/classes.ts';
import type { RuleEngine, RuleFacts } from '../contracts/rule.ts';
import { badGlob, expandBraces, isLiteralGlob } from '../glob/glob-syntax.ts';
import { compileGlob, compileGlobs, type GlobTest } from '../glob/match-glob.ts';
import { didYouMean } from '../text/names.ts';
import { sections } from './document.ts';
import type { Finding } from './problems.ts';

export interface KnownNames {
  readonly rules: ReadonlyMap<string, RuleFacts>;
  /** Undefined: tool names are not checked. */
  readonly tools: ReadonlySet<string> | undefined;
  /** Tools that a source may bring later: names, `*` allowed. */
  readonly toolPatterns?: readonly string[];
  /** Time limits of the tools themselves, which a narrower registry may lower. */
  readonly toolTimeouts?: ReadonlyMap<string, number>;
  /** What the runtime has of the parts that rules may need. */
  readonly engines: ReadonlySet<RuleEngine>;
}

interface NameFindings {
  readonly problems: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/** Steps whose commands are also used outside rules. */
const STEPS = ['build', 'lint', 'fmt', 'format', 'test'];
/** Edits of code use these for files of one language. */
const LANGUAGE_STEP = /^(?:build|format)\.[a-z][a-z0-9-]*$/;

function items(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function entries(value: JsonValue | undefined): readonly (readonly [string, JsonValue])[] {
  return isJsonObject(value) ? Object.entries(value) : [];
}

function isEnforcement(value: JsonValue | undefined): value is Enforcement {
  return ENFORCEMENTS.some((level) => level === value);
}

/** Without its engine a rule checks nothing: below blocking that is a warning, a blocking rule is refused. */
function checkEngines(facts: RuleFacts, level: JsonValue, { engines }: KnownNames): string | undefined {
  const missing = facts.failsClosed === true ? [] : (facts.needs ?? []).filter((engine) => !engines.has(engine));
  if (missing.length === 0) return undefined;
  const what = `Rule needs an engine this runtime does not have: ${facts.id} (${missing.join(', ')}`;
  return level === 'blocking'
    ? `${what}; create the runtime with it, or write enforcement: warning)`
    : `${what}; the rule is not in force)`;
}

function checkValidators(root: JsonObject, known: KnownNames): NameFindings {
  const { rules } = known;
  const problems: Finding[] = [];
  const warnings: Finding[] = [];
  const seen = new Set<string>();
  const commands = new Set(entries(root['commands']).map(([name]) => name));
  for (const [index, item] of items(root['validators']).entries()) {
    const rule = isJsonObject(item) ? item['rule'] : undefined;
    if (!isJsonObject(item) || typeof rule !== 'string' || rule === '') continue;
    const path = `validators.${index}.rule`;
    const facts = rules.get(rule);
    if (seen.has(rule)) problems.push({ path, message: `Rule is listed twice: ${safeText(rule, 80)}` });
    seen.add(rule);
    if (facts === undefined) {
      problems.push({ path, message: `Unknown rule: ${safeText(rule, 80)}${didYouMean(rule, rules.keys())}` });
      continue;
    }
    const level = item['enforcement'] ?? facts.defaultEnforcement;
    if (facts.always === true && isEnforcement(level) && level !== 'blocking') {
      const message = `Security rule cannot be weakened: ${rule} (write enforcement: blocking)`;
      problems.push({ path: `validators.${index}.enforcement`, message });
    }
    const engineProblem = checkEngines(facts, level, known);
    if (engineProblem !== undefined)
      (level === 'blocking' ? problems : warnings).push({ path, message: engineProblem });
    const { needsCommand } = facts;
    if (level === 'blocking' && needsCommand !== undefined && !commands.has(needsCommand) && !commands.has(rule)) {
      const message = `Rule has no command and will refuse: ${rule} (set commands.${needsCommand})`;
      warnings.push({ path, message });
    }
  }
  return { problems, warnings };
}

function checkCommands(root: JsonObject, rules: KnownNames['rules']): readonly Finding[] {
  const needed = [...rules.values()].flatMap(({ needsCommand }) => (needsCommand === undefined ? [] : [needsCommand]));
  // A step may have a command that fixes what it complains about; rules propose it.
  const known = new Set([...STEPS, ...needed, ...[...STEPS, ...needed].map((step) => `${step}.fix`), ...rules.keys()]);
  return entries(root['commands'])
    .filter(([name]) => !known.has(name) && !LANGUAGE_STEP.test(name))
    .map(([name]) => ({
      path: `commands.${name}`,
      message: `No rule or step uses this command: ${safeText(name, 80)}${didYouMean(name, known)}`,
    }));
}

/**
 * Every place where a section says that tools are named. A name that does not exist is refused: in a list of refusals it
 * would refuse nothing. A pattern without a match is a warning, since it may be meant for tools that come later.
 */
function checkTools(root: JsonObject, { tools, toolPatterns = [] }: KnownNames): NameFindings {
  if (tools === undefined) return { problems: [], warnings: [] };
  const known = { ...knownTools(root, tools), isComing: compileGlobs(toolPatterns) };
  const problems: Finding[] = [];
  const warnings: Finding[] = [];
  for (const { path, name } of sections.flatMap(({ toolNames = [] }) => toolNames).flatMap(namesAt(root))) {
    for (const one of alternatives(name)) {
      if (isKnownTool(one, known)) continue;
      if (isLiteralGlob(one)) problems.push({ path, message: unknownTool(one, known) });
      else warnings.push({ path, message: `No tool matches: ${safeText(one, 80)}` });
    }
  }
  return { problems, warnings };
}

interface KnownTools {
  readonly names: ReadonlySet<string>;
  /** Of mounted servers, whose tools are not known yet. */
  readonly prefixes: readonly string[];
  readonly isComing: GlobTest;
}

/** External tools of the same file count as known, and so does whatever begins like the tools of a mounted server. */
function knownTools(root: JsonObject, tools: ReadonlySet<string>): Omit<KnownTools, 'isComing'> {
  const external = items(root['external_tools']).map((item) => (isJsonObject(item) ? item['name'] : undefined));
  const names = new Set([...tools, ...external.filter((name) => typeof name === 'string')]);
  return { names, prefixes: entries(root['mcp_servers']).map(([name, server]) => `${prefixOf(name, server)}_`) };
}

function unknownTool(name: string, { names }: KnownTools): string {
  return `Unknown tool: ${safeText(name, 80)}${didYouMean(name, names)}`;
}

function isKnownTool(pattern: string, { names, prefixes, isComing }: KnownTools): boolean {
  if (names.has(pattern) || isComing(pattern)) return true;
  if (isLiteralGlob(pattern)) return prefixes.some((prefix) => pattern.startsWith(prefix));
  const matches = compileGlob(pattern);
  const [start = ''] = pattern.split(/[*?[\\]/);
  return [...names].some(matches) || prefixes.some((prefix) => prefix.startsWith(start) || start.startsWith(prefix));
}

/** The names and patterns that a text with `{a,b}` stands for; none for one that the schema refuses. */
function alternatives(pattern: string): readonly string[] {
  try {
    return expandBraces(pattern, (why) => {
      throw badGlob(pattern, why);
    }).filter((one) => compileGlob(one) !== undefined);
  } catch {
    return []; // The schema says what is wrong with it.
  }
}

/** The texts at a place as `Section.toolNames` writes it, with their paths. */
function namesAt(root: JsonValue): (place: string) => readonly { readonly path: string; readonly name: string }[] {
  return (place) => {
    const steps = place.split('.');
    const isKeys = steps.at(-1) === '~';
    let found: (readonly [path: string, value: JsonValue])[] = [['', root]];
    for (const step of isKeys ? steps.slice(0, -1) : steps) {
      found = found.flatMap(([path, value]) =>
        insides(value)
          .filter(([key]) => step === '*' || step === key)
          .map(([key, inner]): [string, JsonValue] => [path === '' ? key : `${path}.${key}`, inner]),
      );
    }
    if (!isKeys) return found.flatMap(([path, name]) => (typeof name === 'string' ? [{ path, name }] : []));
    return found.flatMap(([path, map]) => entries(map).map(([name]) => ({ path: `${path}.${name}`, name })));
  };
}

function insides(value: JsonValue): readonly (readonly [string, JsonValue])[] {
  return Array.isArray(value) ? value.map((item, index) => [String(index), item] as const) : entries(value);
}

function prefixOf(name: string, server: JsonValue): string {
  const written = isJsonObject(server) ? server['prefix'] : undefined;
  return typeof written === 'string' && written !== '' ? written : name;
}

/** Two entries of one name could not be distinguished when registries are compared. */
function checkExternalTools(root: JsonObject): readonly Finding[] {
  const seen = new Set<string>();
  return items(root['external_tools']).flatMap((item, index) => {
    const name = isJsonObject(item) ? item['name'] : undefined;
    if (typeof name !== 'string') return [];
    if (seen.has(name)) {
      return [
        { path: `external_tools.${index}.name`, message: `External tool is listed twice: ${safeText(name, 80)}` },
      ];
    }
    seen.add(name);
    return [];
  });
}

/** Where both lists have a tool the stricter one holds, which the author of the other may not expect. */
function checkApprovals(root: JsonObject, tools: KnownNames['tools']): readonly Finding[] {
  const lists = isJsonObject(root['approvals']) ? root['approvals'] : {};
  const [approve, require] = ['auto_approve', 'require_approval'].map((key) =>
    items(lists[key]).filter((item) => typeof item === 'string'),
  ) as [string[], string[]];
  const both = commonNames(approve, require, tools);
  if (both.length === 0) return [];
  const names = both.slice(0, 5).join(', ') + (both.length > 5 ? ` and ${both.length - 5} more` : '');
  return [
    {
      path: 'approvals.auto_approve',
      message: `Also in require_approval, which is stricter and holds: ${safeText(names, 300)}`,
    },
  ];
}

function commonNames(one: readonly string[], other: readonly string[], tools: KnownNames['tools']): readonly string[] {
  if (one.length === 0 || other.length === 0) return [];
  try {
    const [inOne, inOther] = [compileGlobs(one), compileGlobs(other)];
    return [...(tools ?? [...one, ...other])].filter((name) => inOne(name) && inOther(name));
  } catch {
    // A glob that cannot be read is a problem of its own, reported elsewhere.
    return [];
  }
}

export function checkNames(root: JsonValue, known: KnownNames): NameFindings {
  if (!isJsonObject(root)) return { problems: [], warnings: [] };
  const validators = checkValidators(root, known);
  const tools = checkTools(root, known);
  const unversioned = Object.hasOwn(root, 'version')
    ? []
    : [{ path: '', message: 'Version is missing: read as version: 1' }];
  return {
    problems: [...validators.problems, ...tools.problems, ...checkExternalTools(root)],
    warnings: [
      ...unversioned,
      ...validators.warnings,
      ...tools.warnings,
      ...checkCommands(root, known.rules),
      ...checkApprovals(root, known.tools),
    ],
  };
}
