/** ast_validate: rules written by the caller, over declarations the index knows. */
import { defineTool, type ToolContext, type ToolText } from '@tool-runtime/sdk';
import { z } from 'zod';
import { builtOnce } from '../plugin/built-once.ts';
import type { UseServices } from '../plugin/code-services.ts';
import { whereSchema } from './query/answer-schema.ts';
import { demandSchema } from './validate/demand.ts';
import type { UnparsedFile } from './validate/judge-declarations.ts';

const LEVELS = ['blocking', 'warning', 'suggestion'] as const;
const MAX_VIOLATIONS = 1000;

const rule = z
  .strictObject({
    id: z.string().min(1).max(200).describe('Name of the rule in the answer, and in comments that switch it off'),
    enforcement: z.enum(LEVELS).default('warning').describe('Level of its violations'),
    where: whereSchema.default({}).describe('Declarations it is about'),
    must_have: z
      .array(demandSchema)
      .max(20)
      .default([])
      .describe('docstring, test (used by test code), return_type, attr:<name>, call:<name>'),
    must_not_have: z.array(demandSchema).max(20).default([]).describe('The same fields'),
  })
  .refine((given) => given.must_have.length + given.must_not_have.length > 0, 'Needs must_have or must_not_have');

const args = z.strictObject({ rules: z.array(rule).min(1).max(100).describe('Each is checked by itself') });

const answer = builtOnce(() => {
  const place = { rule: z.string(), node_id: z.string(), file: z.string(), line: z.int(), message: z.string() };
  return z.strictObject({
    violations: z.array(z.strictObject({ ...place, level: z.enum(LEVELS) })),
    suppressed: z
      .array(z.strictObject(place))
      .describe('Switched off by a comment: sdk-ignore <rule> on the line or above'),
    unparsed: z
      .array(z.strictObject({ file: z.string(), line: z.int().optional(), message: z.string() }))
      .describe('Files whose declarations are not all known; a blocking rule about them fails'),
    passed: z.boolean().describe('No blocking violation, and no unparsed file under a blocking rule'),
    checked: z.int().describe('Declarations checked'),
    truncated: z.boolean().describe(`There are more than ${MAX_VIOLATIONS} violations`),
  });
});

type Answer = z.output<ReturnType<typeof answer>>;

export const astValidate = (use: UseServices) =>
  defineTool({
    name: 'ast_validate',
    category: 'ast',
    title: 'Validate code',
    summary: 'Check declarations against rules: what they must have and must not have',
    policyNotes: 'Reports only; the rules of the registry are run by validate and on commit',
    args,
    get data() {
      return answer();
    },
    isDataProven: true,
    annotations: {
      kind: 'search',
      side_effect_level: 'read_only',
      arg_schema: { required: ['rules'] },
      capabilities: { ast: ['validate'] },
    },
    effect: 'read',
    risk: 'low',
    idempotent: true,
    timeoutMs: 60_000,
    maxTimeoutMs: 300_000,
    needs: ['ast'],
    present: presentVerdict,
    run: (given, context) => judgeRules(given, use, context),
  });

async function judgeRules({ rules }: z.output<typeof args>, use: UseServices, context: ToolContext): Promise<Answer> {
  const [{ judgeDeclarations }, { ensureIndex }] = await Promise.all([
    import('./validate/judge-declarations.ts'),
    import('./query/ensure-index.ts'),
  ]);
  const { workspace, signal } = context;
  const index = await ensureIndex(use, context);
  const violations: Answer['violations'] = [];
  const suppressed: Answer['suppressed'] = [];
  const unparsed = new Map<string, UnparsedFile>();
  let isUnknown = false;
  let checked = 0;
  for (const each of rules) {
    const judged = await judgeDeclarations(each, { services: use(context), index, workspace, signal });
    checked += judged.checked;
    for (const each of judged.unparsed) unparsed.set(each.file, each);
    isUnknown ||= each.enforcement === 'blocking' && judged.unparsed.length > 0;
    for (const { rule: id, node, message, isSuppressed } of judged.findings) {
      const found = { rule: id, node_id: node.id, message, file: node.file, line: node.line };
      if (isSuppressed) suppressed.push(found);
      else violations.push({ ...found, level: each.enforcement });
    }
  }
  return {
    violations: violations.slice(0, MAX_VIOLATIONS),
    suppressed: suppressed.slice(0, MAX_VIOLATIONS),
    unparsed: [...unparsed.values()].slice(0, MAX_VIOLATIONS),
    passed: !isUnknown && !violations.some(({ level }) => level === 'blocking'),
    checked,
    truncated: violations.length > MAX_VIOLATIONS,
  };
}

function presentVerdict({ violations, suppressed, unparsed, passed, checked, truncated }: Answer): ToolText {
  const rows = violations.map(
    ({ level, file, line, message, rule: id, node_id }) => `${level}: ${file}:${line}: ${message} (${id}) [${node_id}]`,
  );
  rows.push(
    ...unparsed.map(
      ({ file, line, message }) => `unparsed: ${file}${line === undefined ? '' : `:${line}`}: ${message}`,
    ),
  );
  const amount = `${violations.length} violations${truncated ? ', not all shown' : ''}`;
  return {
    head: `${passed ? 'passed' : 'failed'}: ${amount}, ${suppressed.length} suppressed; ${checked} declarations checked${unparsed.length === 0 ? '' : `; ${unparsed.length} files do not parse`}`,
    parts: [{ type: 'text', text: rows }],
  };
}
