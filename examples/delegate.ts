/**
 * A parent delegates two jobs: a review of one folder to a child that can only read, and a fix of one file to a child
 * that can do nothing else. Prints how many capabilities each child got, the refused calls, and the journal records.
 *
 * Exits non-zero if a result is wrong, so that CI can run it as a test.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildSession, createRuntime } from '@tool-runtime/sdk';

const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-delegate-'));
const workspace = join(scratch, 'workspace');
mkdirSync(join(workspace, 'billing'), { recursive: true });
writeFileSync(
  join(workspace, 'billing/total.js'),
  'export const total = (items) => items.length; // TODO: add up prices\n',
);
writeFileSync(join(workspace, 'keys.txt'), 'not for children\n');
const runtime = await createRuntime({
  workspace,
  state: join(scratch, 'state'),
  registry: { file: 'host.yaml', text: 'version: 1\nbudgets: { max_calls: 20 }\nrecursion_limit: 1\n' },
});

try {
  const parent = await runtime.openSession({ actor: 'you', client: 'delegate' });

  // By default a child is read-only. It can see only its folder.
  const reviewer = await parent.openChild({ agentId: 'reviewer', folder: 'billing', budget: { max_calls: 5 } });
  introduce(reviewer);
  const found = await reviewer.call('grep', { pattern: 'TODO' });
  const { matches } = found.data as { matches: { file: string; line: number }[] };
  console.log(`  found     ${matches.map(({ file, line }) => `${file}:${line}`).join(', ')}`);
  assert.deepEqual(
    matches.map(({ file }) => file),
    ['total.js'],
  );
  await refused(reviewer, 'file_write', { path: 'total.js', content: '' });
  await refused(reviewer, 'file_read', { path: '../keys.txt' });

  // Two tools and one file: `capabilities` limits the child further.
  const fixer = await parent.openChild({
    agentId: 'fixer',
    tools: ['file_read', 'file_patch'],
    capabilities: { tool_arg_constraints: [{ tool: '*', arg_patterns: ['billing/total.js'], arg_key: 'path' }] },
    depth: { maxDepth: 0 },
  });
  introduce(fixer);
  const patch = [
    '--- a/billing/total.js',
    '+++ b/billing/total.js',
    '@@ -1 +1 @@',
    '-export const total = (items) => items.length; // TODO: add up prices',
    '+export const total = (items) => items.reduce((sum, { price }) => sum + price, 0);',
    '',
  ].join('\n');
  const fixed = await fixer.call('file_patch', { path: 'billing/total.js', unified_diff: patch });
  assert.equal(fixed.ok, true, JSON.stringify(fixed.errors));
  console.log('  patched   billing/total.js');
  await refused(fixer, 'file_read', { path: 'keys.txt' });
  await refused(fixer, 'fs_delete', { path: 'billing/total.js' });
  await assert.rejects(fixer.openChild({ agentId: 'helper' }), /Depth budget is used up/);

  // A parent cannot close while it has open children.
  await assert.rejects(parent.close(), /Session has open children: reviewer, fixer/);
  console.log(`\nreviewer used ${(await reviewer.complete()).calls} calls, fixer ${(await fixer.complete()).calls}`);
  await parent.close();
  assert.match(readFileSync(join(workspace, 'billing/total.js'), 'utf8'), /reduce/);

  console.log('\nthe family on record');
  for (const record of runtime.records({ kind: 'child' })) {
    if (record.kind !== 'child') continue;
    const { event, details } = record;
    console.log(`  ${record.seq} ${event} ${details['agent_id'] ?? details['variant'] ?? details['calls'] ?? ''}`);
  }
  assert.equal(runtime.verify().ok, true);
} finally {
  await runtime.close();
  rmSync(scratch, { recursive: true });
}

function introduce({ agentId, manifest, depth }: ChildSession): void {
  const { retained_capability_ids: kept, stripped_capability_ids: stripped, tool_policy } = manifest;
  console.log(`\n${agentId} (${tool_policy.type}, depth ${depth.current_depth} of ${depth.max_depth})`);
  console.log(`  keeps     ${kept.length} of ${kept.length + stripped.length} capabilities`);
}

async function refused(child: ChildSession, tool: string, args: object): Promise<void> {
  const { ok, errors } = await child.call(tool, args);
  assert.equal(ok, false);
  assert.equal(errors[0]?.code, 'E_POLICY');
  console.log(`  refused   ${tool}: ${errors[0]?.message}`);
}
