/**
 * The rules in force for one session, sorted by phase when it opens.
 *
 * A listed rule runs at its listed level. A rule marked `always` is blocking although nobody lists it: a registry
 * cannot switch security off by saying nothing. Every other unlisted rule is off.
 */
import { type ErrorEntry, ToolError } from '@tool-runtime/protocol';
import type { Enforcement } from '../contracts/classes.ts';
import type { Registry } from '../contracts/registry.ts';
import type { RuleContext, RuleDefinition, RulePhase, RuleSubject, Violation } from '../contracts/rule.ts';

export interface RuleReport {
  /** The first blocking violation as an error; the others are in its details. */
  readonly blocking: ToolError | undefined;
  readonly warnings: readonly ErrorEntry[];
}

export interface RuleSet {
  has(phase: RulePhase): boolean;
  applies(phase: RulePhase, subject: RuleSubject): boolean;
  run(phase: RulePhase, subject: RuleSubject, context: RuleContext): Promise<RuleReport>;
}

interface ActiveRule {
  readonly rule: RuleDefinition;
  readonly enforcement: Enforcement;
  /** `file:line` that puts the rule in force; absent for built-in ones. */
  readonly registry: string | undefined;
}

export function compileRules(rules: readonly RuleDefinition[], registry: Registry): RuleSet {
  const phases: Record<RulePhase, ActiveRule[]> = { before: [], after: [], 'on-commit': [] };
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
  return {
    has: (phase) => phases[phase].length > 0,
    applies: (phase, subject) => phases[phase].some((active) => active.rule.appliesTo(subject)),
    run: (phase, subject, context) => runRules(phases[phase], subject, context),
  };
}

async function runRules(
  active: readonly ActiveRule[],
  subject: RuleSubject,
  context: RuleContext,
): Promise<RuleReport> {
  const warnings: ErrorEntry[] = [];
  let blocking: ToolError | undefined;
  for (const entry of active) {
    if (!entry.rule.appliesTo(subject)) continue;
    const violations = await checkRule(entry.rule, subject, context);
    if (violations.length === 0) continue;
    const error = violationError(entry, violations);
    if (entry.enforcement === 'blocking') blocking ??= error;
    else warnings.push(error.toEntry());
  }
  return { blocking, warnings };
}

/** A rule that cannot run counts as failed: silence would be a pass. */
async function checkRule(
  rule: RuleDefinition,
  subject: RuleSubject,
  context: RuleContext,
): Promise<readonly Violation[]> {
  try {
    return await rule.check(subject, context);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : 'unknown failure';
    return [{ message: `Rule could not be checked: ${why}` }];
  }
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
      ...first?.details,
      ...(violations.length > 1 ? { violations: violations.map((violation) => ({ ...violation })) } : {}),
    },
  });
}
