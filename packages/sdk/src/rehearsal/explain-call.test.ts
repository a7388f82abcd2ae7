import assert from 'node:assert/strict';
import { readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { explanationSchema, type JsonObject, type PolicyExplanation } from '@tool-runtime/protocol';
import type { RuntimeOptions } from '../runtime.ts';
import { openScratchRuntime, type ScratchRuntime } from '../testing/scratch-runtime.ts';

async function withScratch(
  text: string,
  use: (scratch: ScratchRuntime) => Promise<void>,
  options: Partial<RuntimeOptions> = {},
): Promise<void> {
  const scratch = await openScratchRuntime({ registry: { file: 'r.yaml', text: `version: 1\n${text}` }, ...options });
  try {
    await use(scratch);
  } finally {
    await scratch.dispose();
  }
}

const gateOf = ({ gates }: PolicyExplanation, name: string) => gates.find(({ gate }) => gate === name);

/** What the real call came to, by the records of its gates. */
async function decisionOf({ session, runtime }: ScratchRuntime, tool: string, args: JsonObject): Promise<string> {
  const { seq } = runtime.head();
  await session.call(tool, args);
  const decisions = [...runtime.records({ kind: 'decision' })].filter((record) => record.seq > seq);
  return decisions[0]?.kind === 'decision' ? decisions[0].outcome : 'none';
}

const REGISTRY = `
shell_allow: ['^ls( |$)']
shell_ask: ['^ls -R']
approvals:
  auto_approve: [file_read, shell_exec, fs_delete]
  auto_deny: ['git_*']
arg_constraints:
  - tool: file_write
    arg_patterns: ['docs/**']
`;

describe('runtime.policy.explain', () => {
  test('names the gate, the line and the change for every kind of refusal', () =>
    withScratch(REGISTRY, async ({ runtime }) => {
      const cases: readonly [string, JsonObject, string, string, string | undefined, string][] = [
        [
          'file_write',
          { path: 'src/a', content: '' },
          'deny',
          'arguments',
          'r.yaml:8',
          'add "src/a" to arg_constraints.0.arg_patterns (r.yaml:10); add "file_write" to approvals.auto_approve (r.yaml:6)',
        ],
        [
          'file_write',
          { path: 'docs/a', content: '' },
          'ask',
          'approval',
          'r.yaml:5',
          'add "file_write" to approvals.auto_approve (r.yaml:6)',
        ],
        ['shell_exec', { cmd: 'ls && rm x' }, 'deny', 'rules', 'r.yaml:3', 'add "^rm x$" to shell_allow (r.yaml:3)'],
        ['shell_exec', { cmd: 'ls -R' }, 'ask', 'commands', 'r.yaml:4', 'remove "^ls -R" from shell_ask (r.yaml:4)'],
        ['git_status', {}, 'deny', 'approval', 'r.yaml:7', 'remove "git_*" from approvals.auto_deny (r.yaml:7)'],
        [
          'curl',
          { url: 'https://example.org/' },
          'deny',
          'route',
          undefined,
          'add "example.org" to network.allowed_domains',
        ],
        ['file_read', { path: 'a' }, 'allow', 'approval', 'r.yaml:6', 'set tools.file_read.enabled: false'],
      ];
      for (const [tool, args, decision, gate, registry, change] of cases) {
        const explanation = await runtime.policy.explain({ tool, args });
        assert.deepEqual(explanationSchema.parse(explanation), explanation);
        assert.equal(Object.keys(explanation)[0], 'decision');
        const found = gateOf(explanation, gate);
        assert.deepEqual(
          [explanation.decision, found?.answer, found?.registry, explanation.change?.text],
          [decision, decision, registry, change],
          `${tool} ${JSON.stringify(args)}`,
        );
      }
    }));

  test('asks every gate, those behind a refusal too, and says which cannot be asked', () =>
    withScratch(
      'approvals: { auto_deny: [file_write] }\narg_constraints:\n  - { tool: file_write, arg_patterns: [docs/*] }\nbudgets: { max_calls: 1 }',
      async ({ runtime }) => {
        const { gates } = await runtime.policy.explain({ tool: 'file_write', args: { path: 'a', content: '' } });
        const answers = gates.map(({ gate, answer }) => [gate, answer]);
        assert.deepEqual(answers, [
          ['route', 'allow'],
          ['schema', 'allow'],
          ['hooks', 'not_asked'],
          ['transaction', 'allow'],
          ['ceiling', 'allow'],
          ['arguments', 'deny'],
          ['rules', 'allow'],
          ['approval', 'deny'],
          ['write_paths', 'allow'],
          ['commands', 'allow'],
          ['policy', 'allow'],
          ['coordinator', 'allow'],
          ['budget', 'not_asked'],
        ]);
      },
      { hooks: [{ id: 'watch', tools: '*', before: () => ({ type: 'allow' }) }] },
    ));

  test('gives the answer of the real call, which is made afterwards', () =>
    withScratch(REGISTRY, async (scratch) => {
      writeFileSync(join(scratch.workspace, 'a'), 'x');
      symlinkSync('a', join(scratch.workspace, 'link'));
      const calls: readonly [string, JsonObject][] = [
        ['file_read', { path: 'a' }],
        ['file_read', { path: '../a' }],
        ['file_read', { path: 3 }],
        ['file_write', { path: 'link', content: '' }],
        ['file_write', { path: 'docs/a', content: '' }],
        ['shell_exec', { cmd: 'rm a' }],
        ['git_status', {}],
        ['none', {}],
      ];
      for (const [tool, args] of calls) {
        const { decision } = await scratch.session.explain(tool, args);
        assert.equal(await decisionOf(scratch, tool, args), decision, `${tool} ${JSON.stringify(args)}`);
      }
    }));

  test('changes nothing and records nothing', () =>
    withScratch(REGISTRY, async ({ runtime, session, workspace }) => {
      const before = runtime.head();
      await runtime.policy.explain({ tool: 'file_write', args: { path: 'docs/a', content: 'x' } });
      await session.explain('fs_delete', { path: 'docs/a' });
      assert.deepEqual(runtime.head(), before);
      assert.deepEqual(readdirSync(workspace), []);
    }));

  test('judges under another registry, and refuses a bad one with its line', () =>
    withScratch('', async ({ runtime }) => {
      const call = { tool: 'file_read', args: { path: 'a' } };
      assert.equal((await runtime.policy.explain(call)).decision, 'allow');
      const other = { file: 'other.yaml', text: 'version: 1\ntools:\n  file_read: { enabled: false }\n' };
      const { decision, change } = await runtime.policy.explain({ ...call, registry: other });
      assert.deepEqual([decision, change?.text], ['deny', 'remove tools.file_read.enabled (other.yaml:3)']);
      await assert.rejects(
        runtime.policy.explain({ ...call, registry: { file: 'bad.yaml', text: 'nope: 1' } }),
        /bad\.yaml:1:1 Unknown key: nope/,
      );
    }));

  test('suggests no change that would spell out a secret, and shows none', () =>
    withScratch(
      "shell_allow: ['^ls$']",
      async ({ runtime }) => {
        const explanation = await runtime.policy.explain({
          tool: 'shell_exec',
          args: { cmd: 'curl -H x:s3cr3t-value-of-host' },
        });
        assert.equal(explanation.decision, 'deny');
        assert.equal(explanation.change, null);
        assert.doesNotMatch(JSON.stringify(explanation), /s3cr3t/);
      },
      { secrets: ['s3cr3t-value-of-host'] },
    ));

  test('suggests nothing to a session with a registry of its own, but explains', () =>
    withScratch('', async ({ runtime }) => {
      const session = await runtime.openSession({ registry: { file: 's.yaml', text: 'allowed_tools: [file_read]' } });
      const { decision, change, gates } = await session.explain('file_write', { path: 'a', content: '' });
      assert.deepEqual([decision, change, gates[0]?.answer], ['deny', null, 'deny']);
    }));
});
