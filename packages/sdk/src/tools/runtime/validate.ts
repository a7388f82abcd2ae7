/** validate: runs rules over the work tree, what is staged, or the commits since a revision. Changes nothing. */
import { z } from 'zod';
import { ENFORCEMENTS } from '../../contracts/classes.ts';
import type { FoundViolation, ValidationReport } from '../../contracts/rule.ts';
import { defineTool, type ToolContext } from '../../contracts/tool.ts';
import type { ToolText } from '../../contracts/tool-text.ts';
import { counted, shownName } from '../../present/rows.ts';

const MAX_VIOLATIONS = 1000;
const ruleIds = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]);
const globs = z.union([z.string().min(1), z.array(z.string().min(1))]);

const args = z
  .strictObject({
    rule_id: ruleIds.exactOptional().describe('One rule or several; left out: all that are in force'),
    enforcement: z.enum(ENFORCEMENTS).exactOptional().describe('Only rules of this level'),
    glob: globs.exactOptional().describe('Only files that match'),
    scope: z
      .enum(['worktree', 'staged', 'range'])
      .default('worktree')
      .describe('All files, what is staged, or the commits since a revision'),
    since: z.string().min(1).exactOptional().describe('Start of the range: a branch, tag or commit'),
    message: z.string().exactOptional().describe('Commit message to check too'),
    index: z
      .string()
      .regex(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/)
      .exactOptional()
      .describe('For hooks: name of the index file in the git folder that is being committed'),
  })
  .refine(
    ({ scope, since }) => (scope === 'range') === (since !== undefined),
    '`since` is needed with scope range, and allowed only there',
  );

const violation = z.strictObject({
  rule: z.string(),
  level: z.enum(ENFORCEMENTS),
  message: z.string(),
  path: z.string().optional(),
  line: z.int().optional(),
  next: z.string().optional().describe('What would pass instead'),
  fix: z.record(z.string(), z.unknown()).optional().describe('A proposed edit or command; never applied by itself'),
  details: z.record(z.string(), z.unknown()).optional(),
});

const data = z.strictObject({
  violations: z.array(violation),
  rules: z.array(
    z.strictObject({
      id: z.string(),
      level: z.enum(ENFORCEMENTS),
      status: z.enum(['passed', 'failed', 'not_applicable']),
      description: z.string(),
    }),
  ),
  passed: z.boolean().describe('No blocking violation'),
  files: z.int().describe('Files searched'),
  scope: z.string(),
  truncated: z.boolean().describe(`There are more than ${MAX_VIOLATIONS} violations`),
});

export const validate = defineTool({
  name: 'validate',
  category: 'validation',
  title: 'Validate',
  summary: 'Run rules over files and report violations with proposed fixes',
  policyNotes:
    'Runs the commands the registry configures for build, lint and format; fixes are proposed, never applied',
  args,
  data,
  annotations: {
    kind: 'execute',
    side_effect_level: 'process_exec',
    capabilities: { validation: ['run'] },
    inline_result: true,
  },
  leastLevel: 'read_only',
  // Without configured commands nothing is started, and looking is all that happens.
  profile: (_given, registry) =>
    Object.keys(registry.commands).length === 0 ? { kind: 'read', side_effect_level: 'read_only', effect: 'read' } : {},
  effect: 'process',
  inTransaction: 'outside',
  writes: 'unknown',
  risk: 'medium',
  idempotent: true,
  rehearse: 'none',
  timeoutMs: 1_200_000,
  present: presentVerdict,
  run: runRules,
});

async function runRules(given: z.output<typeof args>, context: ToolContext): Promise<z.output<typeof data>> {
  const report = await context.validation.run({
    ...(given.rule_id === undefined ? {} : { rules: [given.rule_id].flat() }),
    ...(given.enforcement === undefined ? {} : { enforcement: given.enforcement }),
    ...(given.glob === undefined ? {} : { globs: [given.glob].flat() }),
    scope: given.scope,
    ...(given.since === undefined ? {} : { since: given.since }),
    ...(given.message === undefined ? {} : { message: given.message }),
    ...(given.index === undefined ? {} : { index: given.index }),
    signal: context.signal,
  });
  proposeFixes(report, context);
  return {
    violations: report.violations.slice(0, MAX_VIOLATIONS).map((found) => ({ ...found })),
    rules: report.rules.map((verdict) => ({ ...verdict })),
    passed: !report.violations.some(isBlocking),
    files: report.files,
    scope: report.scope,
    truncated: report.violations.length > MAX_VIOLATIONS,
  };
}

function isBlocking({ level }: FoundViolation): boolean {
  return level === 'blocking';
}

/** Announced one by one, so that listeners can queue them. */
function proposeFixes({ violations }: ValidationReport, { progress }: ToolContext): void {
  for (const { rule, path, line, message, fix } of violations) {
    if (fix === undefined) continue;
    progress(100, `Fix proposed: ${message}`, {
      fix,
      rule,
      ...(path === undefined ? {} : { path }),
      ...(line === undefined ? {} : { line }),
    });
  }
}

function presentVerdict({ violations, rules, passed, files, scope, truncated }: z.output<typeof data>): ToolText {
  const rows = violations.map(({ rule, level, message, path, line, next }) => {
    const place = path === undefined ? '' : `${shownName(path)}${line === undefined ? '' : `:${line}`}: `;
    return `${level}: ${place}${message} (${rule})${next === undefined ? '' : `\n  next: ${next}`}`;
  });
  const ran = rules.filter(({ status }) => status !== 'not_applicable').length;
  const verdict = passed ? 'passed' : 'failed';
  const amount = `${counted(violations.length, 'violation')}${truncated ? ', not all shown' : ''}`;
  return {
    head: `${verdict}: ${amount}; ${counted(ran, 'rule')} over ${counted(files, 'file')} (${scope})`,
    parts: [{ type: 'text', text: rows }],
  };
}
