/**
 * Operator limits on single arguments, compiled for one tool.
 *
 * A constraint without a key speaks about every declared path of the tool and about every file it writes. What is absent
 * is not judged; what is present but is no text, number or boolean cannot be judged and is refused.
 */
import type { JsonValue, ToolError } from '@tool-runtime/protocol';
import type { ToolArgSchema } from '../contracts/annotations.ts';
import { policyDenial } from '../contracts/failures.ts';
import type { ToolArgConstraint } from '../contracts/registry.ts';
import { cutText } from '../glob/glob-syntax.ts';
import { compileGlob, compileGlobs, type GlobTest } from '../glob/match-glob.ts';
import { compilePathClause, compilePathGlobs, type PathClause } from './path-rule.ts';

export interface ArgConstraintCheck {
  /** What is said about paths: judged as written and by where they lead. */
  readonly clauses: readonly PathClause[];
  /** Everything else. Throws E_POLICY naming the argument and its value. */
  check(args: Readonly<Record<string, JsonValue>>): void;
}

export interface ConstrainedTool {
  readonly name: string;
  readonly argSchema: ToolArgSchema;
}

interface KeyTest {
  readonly key: string;
  readonly matches: GlobTest;
  readonly patterns: readonly string[];
  /** Its texts are paths, which clauses judge. */
  readonly isPath: boolean;
}

const UNCONSTRAINED: ArgConstraintCheck = { clauses: [], check: () => undefined };

/**
 * Throws E_VALIDATION_FAIL for a bad pattern. A constraint that finds no argument to speak about refuses every call of
 * the tool: surface validation reports it at start, and skipping it here would lift a limit in silence.
 */
export function compileArgConstraints(
  constraints: readonly ToolArgConstraint[] | undefined,
  tool: ConstrainedTool,
): ArgConstraintCheck {
  const ours = (constraints ?? []).filter((constraint) => compileGlob(constraint.tool)(tool.name));
  if (ours.length === 0) return UNCONSTRAINED;
  if (ours.some((constraint) => constrainedKeys(constraint, tool.argSchema).length === 0)) return refuseAll(tool.name);
  const tests = ours.flatMap((constraint) => compileConstraint(constraint, tool));
  return {
    clauses: ours.flatMap((constraint) => pathClauses(constraint, tool)),
    check(args) {
      for (const test of tests) if (Object.hasOwn(args, test.key)) checkValue(test, args[test.key]);
    },
  };
}

/**
 * The argument keys a constraint speaks about for this tool; none means it cannot be resolved. A key that is an alias
 * stands for the canonical one, because aliases are gone by the time arguments are judged.
 */
export function constrainedKeys(constraint: ToolArgConstraint, schema: ToolArgSchema): readonly string[] {
  const key = constraint.arg_key;
  if (key === undefined) return schema.path_params;
  return [(Object.hasOwn(schema.arg_aliases, key) ? schema.arg_aliases[key] : undefined) ?? key];
}

function refuseAll(tool: string): ArgConstraintCheck {
  return {
    clauses: [],
    check() {
      throw policyDenial(`Argument constraint finds no argument: ${tool}`, {
        details: {
          gate: 'arguments',
          reason: 'unresolvable_arg_constraint',
          field: 'arg_constraints',
          next: 'ask the operator to name the argument with arg_key',
        },
      });
    },
  };
}

function compileConstraint(constraint: ToolArgConstraint, tool: ConstrainedTool): readonly KeyTest[] {
  const patterns = constraint.arg_patterns;
  return constrainedKeys(constraint, tool.argSchema).map((key) => {
    const isPath = tool.argSchema.path_params.includes(key);
    return { key, matches: (isPath ? compilePathGlobs : compileGlobs)(patterns), patterns, isPath };
  });
}

function pathClauses(constraint: ToolArgConstraint, { argSchema }: ConstrainedTool): readonly PathClause[] {
  const patterns = constraint.arg_patterns;
  const keys = constrainedKeys(constraint, argSchema).filter((key) => argSchema.path_params.includes(key));
  if (keys.length === 0) return [];
  return [
    compilePathClause(patterns, {
      gate: 'arguments',
      keys,
      everyWrite: constraint.arg_key === undefined,
      refuse: (key, path) => notAllowed({ key, patterns }, cutText(path)),
    }),
  ];
}

function checkValue(test: KeyTest, value: JsonValue | undefined): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) {
    for (const element of value as readonly JsonValue[]) checkScalar(test, element);
  } else checkScalar(test, value);
}

function checkScalar(test: KeyTest, value: JsonValue): void {
  if (test.isPath && typeof value === 'string') return;
  const judged = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  if (judged && test.matches(String(value))) return;
  throw notAllowed(test, judged ? cutText(String(value)) : 'a value that is no text');
}

function notAllowed({ key, patterns }: Pick<KeyTest, 'key' | 'patterns'>, shown: string): ToolError {
  return policyDenial(`Argument is not allowed by policy: ${key} = ${shown}`, {
    path: key,
    details: {
      gate: 'arguments',
      reason: 'arg_constraint',
      key,
      field: 'arg_constraints',
      next: allowedText(patterns),
    },
  });
}

function allowedText(patterns: readonly string[]): string {
  if (patterns.length === 0) return 'no value is allowed';
  return `use a value that matches ${patterns.slice(0, 10).join(' or ')}${patterns.length > 10 ? ' or …' : ''}`;
}
