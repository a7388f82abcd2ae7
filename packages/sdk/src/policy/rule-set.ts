/**
 * The rules in force for one session, sorted by phase when it opens.
 *
 * A listed rule runs at its listed level. A rule marked `always` is blocking even if it is not listed: a registry
 * cannot switch security off by saying nothing. Every other unlisted rule is off.
 */
import { type ErrorEntry, ToolError } from '@tool-runtime/protocol';
import type { ToolArgSchema } from '../contracts/annotations.ts';
import type { Enforcement } from '../contracts/classes.ts';
import type { Registry } from '../contracts/registry.ts';
import type {
  ArgumentKind,
  RuleContext,
  RuleDefinition,
  RulePhase,
  RuleSubject,
  Violation,
} from '../contracts/rule.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import { didYouMean } from '../text/names.ts';

export interface RuleReport {
  /** The first blocking violation as an error; the others are in its details. */
  readonly blocking: ToolError | undefined;
  readonly warnings: readonly ErrorEntry[];
}

export interface RuleSet {
  has(phase: RulePhase): boolean;
  applies(phase: RulePhase, subject: RuleSubject): boolean;
  /** Ids of the rules that this phase asks about the subject. */
  asked(phase: RulePhase, subject: RuleSubject): readonly string[];
  /** At once where every rule answers at once. */
  run(phase: RulePhase, subject: RuleSubject, context: RuleContext): MaybePromise<RuleReport>;
  /** Throws E_VALIDATION_FAIL for a rule that cannot be passed over, or that does not exist. */
  checkOverrides(overrides: Readonly<Record<string, string>>): void;
  /** Rules to be run on request: those in force, or the named ones whether in force or not. */
  select(ids: readonly string[] | undefined): readonly ActiveRule[];
}

export interface ActiveRule {
  readonly rule: RuleDefinition;
  readonly enforcement: Enforcement;
  /** `file:line` that puts the rule in force; absent for built-in ones. */
  readonly registry: string | undefined;
}

/** The lists of argument names that a tool declares, by the kind that rules look at. */
const DECLARED = {
  paths: 'path_params',
  urls: 'url_params',
  commands: 'command_params',
  environments: 'env_params',
} as const satisfies Record<ArgumentKind, keyof ToolArgSchema>;

/** `schemaOf` tells what a tool's calls can carry; for a tool it does not know every rule is asked. */
export function compileRules(
  rules: readonly RuleDefinition[],
  registry: Registry,
  schemaOf: (tool: string) => ToolArgSchema | undefined = () => undefined,
): RuleSet {
  const phases: Record<RulePhase, ActiveRule[]> = { before: [], guard: [], 'on-commit': [], after: [] };
  for (const rule of rules) {
    const listed = registry.validators.get(rule.id);
    if (listed === undefined && rule.always !== true) continue;
    const spot = listed === undefined ? undefined : registry.spot(`validators.${rule.id}`);
    phases[rule.phase].push({
      rule,
      enforcement: listed?.enforcement ?? 'blocking',
      registry: spot === undefined ? undefined : `${spot.file}:${spot.line}`,
    });
  }
  // Rules that start programs come last: what stops a call in milliseconds should not wait for a build.
  for (const list of Object.values(phases)) list.sort((left, right) => cost(left) - cost(right));
  const byTool = new Map<string, typeof phases>();
  const concerning = (phase: RulePhase, { tool }: RuleSubject): readonly ActiveRule[] => {
    let lists = byTool.get(tool);
    if (lists === undefined) {
      const schema = schemaOf(tool);
      const only = (list: readonly ActiveRule[]) => list.filter(({ rule }) => mayConcern(rule, tool, schema));
      lists = {
        before: only(phases.before),
        guard: only(phases.guard),
        'on-commit': only(phases['on-commit']),
        after: only(phases.after),
      };
      if (schema !== undefined) byTool.set(tool, lists);
    }
    return lists[phase];
  };
  return {
    has: (phase) => phases[phase].length > 0,
    applies: (phase, subject) => concerning(phase, subject).some((active) => active.rule.appliesTo(subject)),
    asked: (phase, subject) =>
      concerning(phase, subject)
        .filter(({ rule }) => rule.appliesTo(subject))
        .map(({ rule }) => rule.id),
    run: (phase, subject, context) => runRules(concerning(phase, subject), subject, context),
    checkOverrides(overrides) {
      const open = rules.filter((rule) => rule.overridable === true).map((rule) => rule.id);
      const refused = Object.keys(overrides).find((id) => !open.includes(id));
      if (refused !== undefined) throw cannotPassOver(refused, open);
    },
    select(ids) {
      const inForce = Object.values(phases).flat();
      return ids === undefined ? inForce : ids.map((id) => findRule(id, inForce, rules));
    },
  };
}

function mayConcern({ tools, looksAt }: RuleDefinition, tool: string, schema: ToolArgSchema | undefined): boolean {
  if (tools?.includes(tool) === false) return false;
  return schema === undefined || looksAt === undefined || looksAt.some((kind) => schema[DECLARED[kind]].length > 0);
}

function cost({ rule }: ActiveRule): number {
  return rule.needsCommand === undefined ? 0 : 1;
}

function cannotPassOver(id: string, open: readonly string[]): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Rule cannot be passed over: ${id}`, {
    path: 'overrides',
    details: { gate: 'rule', rule: id, next: `only these can: ${open.join(', ') || 'none'}` },
  });
}

function findRule(id: string, inForce: readonly ActiveRule[], rules: readonly RuleDefinition[]): ActiveRule {
  const listed = inForce.find(({ rule }) => rule.id === id);
  if (listed !== undefined) return listed;
  const known = rules.find((rule) => rule.id === id);
  if (known !== undefined) return { rule: known, enforcement: known.defaultEnforcement, registry: undefined };
  const names = rules.map((rule) => rule.id);
  throw new ToolError('E_VALIDATION_FAIL', `Unknown rule: ${id}${didYouMean(id, names)}`, {
    path: 'rule_id',
    details: { next: `name one of: ${names.join(', ')}` },
  });
}

/** One rule after the other, from the first or the given one on. */
function runRules(
  active: readonly ActiveRule[],
  subject: RuleSubject,
  context: RuleContext,
  report: OpenReport = { blocking: undefined, warnings: [] },
  from = 0,
): MaybePromise<RuleReport> {
  for (let at = from; at < active.length; at++) {
    const entry = active[at] as ActiveRule;
    if (!entry.rule.appliesTo(subject) || (report.blocking !== undefined && cost(entry) > 0)) continue;
    const violations = checkRule(entry.rule, subject, context);
    if (violations instanceof Promise) {
      return violations.then((found) => {
        noteViolations(entry, found, subject, report);
        return runRules(active, subject, context, report, at + 1);
      });
    }
    noteViolations(entry, violations, subject, report);
  }
  return report;
}

interface OpenReport {
  blocking: ToolError | undefined;
  readonly warnings: ErrorEntry[];
}

function noteViolations(
  entry: ActiveRule,
  violations: readonly Violation[],
  subject: RuleSubject,
  report: OpenReport,
): void {
  if (violations.length === 0) return;
  const error = violationError(entry, violations);
  const reason = entry.rule.overridable === true ? subject.git?.overrides?.[entry.rule.id] : undefined;
  if (reason !== undefined) report.warnings.push(overridden(error, reason));
  else if (entry.enforcement === 'blocking') report.blocking ??= error;
  else report.warnings.push(error.toEntry());
}

/** The reason is on record with the call; the answer repeats it, so that it is not overlooked. */
function overridden(error: ToolError, reason: string): ErrorEntry {
  const entry = error.toEntry();
  return {
    ...entry,
    message: `Passed over by the caller: ${entry.message}`,
    details: { ...entry.details, override: reason },
  };
}

/** A rule that cannot run counts as failed: silence would be a pass. */
export function checkRule(
  rule: RuleDefinition,
  subject: RuleSubject,
  context: RuleContext,
): MaybePromise<readonly Violation[]> {
  try {
    const found = rule.check(subject, context);
    return Array.isArray(found) ? found : Promise.resolve(found).catch(failedCheck);
  } catch (thrown) {
    return failedCheck(thrown);
  }
}

function failedCheck(thrown: unknown): readonly Violation[] {
  return [uncheckable(thrown)];
}

/** Reads a message only where that runs no foreign code: what was thrown may be anything. */
function reasonIn(thrown: unknown): string {
  try {
    return thrown instanceof Error && typeof thrown.message === 'string' ? thrown.message : 'unknown failure';
  } catch {
    return 'unknown failure';
  }
}

export function uncheckable(thrown: unknown): Violation {
  return { message: `Rule could not be checked: ${reasonIn(thrown)}` };
}

function violationError(entry: ActiveRule, violations: readonly Violation[]): ToolError {
  const [first] = violations;
  const { rule } = entry;
  return new ToolError(rule.errorCode ?? 'E_VALIDATION_FAIL', first?.message ?? rule.description, {
    ...(first?.path === undefined ? {} : { path: first.path }),
    details: {
      gate: 'rule',
      rule: rule.id,
      enforcement: entry.enforcement,
      ...(entry.registry === undefined ? {} : { registry: entry.registry }),
      ...(first?.next === undefined ? {} : { next: first.next }),
      ...(first?.line === undefined ? {} : { line: first.line }),
      ...(first?.fix === undefined ? {} : { fix: first.fix }),
      ...first?.details,
      ...(violations.length > 1 ? { violations: violations.map((violation) => ({ ...violation })) } : {}),
    },
  });
}
