import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  isToolError,
  type JsonObject,
  policyCheckSchema,
  policyDiffSchema,
  simulationSchema,
  suggestionSchema,
} from '@tool-runtime/protocol';
import { createRuntime, type RuntimeOptions } from '../runtime.ts';
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

const textOf = (text: string, file = 'other.yaml') => ({ file, text: `version: 1\n${text}` });
const sealedFiles = ({ state }: ScratchRuntime) => readdirSync(join(state, 'sealed-args'));

const EXAMPLES = `arg_constraints:
  - tool: file_write
    arg_patterns: ['docs/**']
    allow: [{ tool: file_write, args: { path: docs/a, content: '' } }]
    deny:
      - { tool: file_write, args: { path: src/a, content: '' } }
`;

describe('examples of a registry', () => {
  test('hold or not, each with its line', () =>
    withScratch(EXAMPLES, async ({ runtime }) => {
      const good = await runtime.policy.check();
      assert.deepEqual(policyCheckSchema.parse(good), good);
      assert.deepEqual([good.ok, good.examples, good.failed], [true, 2, 0]);
      const other = textOf(EXAMPLES.replace("'docs/**'", "'src/**'"));
      const bad = await runtime.policy.check({ registry: other });
      assert.deepEqual([bad.ok, bad.failed], [false, 2]);
      assert.deepEqual(
        bad.results.map(({ registry, decision, expected }) => [registry, decision, expected]),
        [
          ['other.yaml:5', 'deny', 'allow'],
          ['other.yaml:7', 'allow', 'deny'],
        ],
      );
    }));

  test('one that does not hold refuses the registry at load, with file and line; holding ones do not', async () => {
    const bad = EXAMPLES.replace('path: src/a', 'path: docs/b');
    await assert.rejects(
      withScratch(bad, async () => assert.fail('it opened')),
      /r\.yaml:7:9 Example does not hold: file_write .* is allowed, must be denied/,
    );
    await withScratch(EXAMPLES, async ({ session }) => {
      assert.equal((await session.call('file_write', { path: 'docs/a', content: '' })).ok, true);
    });
    await withScratch(bad, async ({ runtime }) => assert.equal((await runtime.policy.check()).ok, false), {
      examples: 'ignore',
    });
  });

  test('of a session refuse the session, and those of the host need not hold in a narrower one', () =>
    withScratch(EXAMPLES, async ({ runtime }) => {
      const narrow = textOf(
        'allowed_tools: [file_read]\nexamples: { deny: [{ tool: file_write, args: { path: docs/a, content: x } }] }',
      );
      await (await runtime.openSession({ registry: narrow })).close();
      const wrong = textOf('allowed_tools: [file_read]\nexamples: { deny: [{ tool: file_read, args: { path: a } }] }');
      await assert.rejects(runtime.openSession({ registry: wrong }), /other\.yaml:3:20 Example does not hold/);
    }));

  test('say allow, ask and deny exactly at the top; an entry may also be asked about', () =>
    withScratch('', async ({ runtime }) => {
      const call = '{ tool: file_write, args: { path: docs/a, content: x } }';
      const base = 'approvals: { auto_approve: [] }\n';
      const check = async (text: string) => (await runtime.policy.check({ registry: textOf(base + text) })).ok;
      assert.equal(await check(`examples: { ask: [${call}] }`), true);
      assert.equal(await check(`examples: { allow: [${call}] }`), false);
      assert.equal(
        await check(`arg_constraints: [{ tool: file_write, arg_patterns: [docs/*], allow: [${call}] }]`),
        true,
      );
    }));

  test('of a rule that judges files cannot be checked, of one that judges arguments they can; unknown tools are refused', () =>
    withScratch('', async ({ runtime }) => {
      const check = (text: string) => runtime.policy.check({ registry: textOf(text) });
      const commit = (message: string) => `[{ tool: git_commit, args: { message: '${message}' } }]`;
      const later = await check(`validators: [{ rule: secrets.scan, deny: ${commit('x')} }]`);
      assert.match(later.results[0]?.message ?? '', /cannot be checked: secrets\.scan judges files/);
      const rule = `rule: commit.message.conventional, enforcement: blocking`;
      assert.equal(
        (await check(`validators: [{ ${rule}, allow: ${commit('fix: x')}, deny: ${commit('x')} }]`)).ok,
        true,
      );
      await assert.rejects(check('examples: { deny: [{ tool: file_raed }] }'), /Unknown tool: file_raed/);
    }));
});

describe('runtime.policy.simulate', () => {
  async function fill({ session }: ScratchRuntime): Promise<void> {
    const calls: readonly [string, JsonObject][] = [
      ['file_write', { path: 'docs/a', content: 'x' }],
      ['file_write', { path: 'src/a', content: 'x' }],
      ['file_read', { path: 'docs/a' }],
      ['shell_exec', { cmd: 'ls' }],
      ['nope', {}],
    ];
    for (const [tool, args] of calls) await session.call(tool, args);
  }

  test('counts what changes with examples and lines; under the same registry nothing does', () =>
    withScratch('', async (scratch) => {
      await fill(scratch);
      const { policy } = scratch.runtime;
      const same = await policy.simulate({ registry: textOf('') });
      assert.deepEqual([same.changed, same.judged, same.calls, same.not_judged], [0, 5, 5, []]);
      const other = await policy.simulate({ registry: textOf(EXAMPLES) });
      assert.deepEqual(simulationSchema.parse(other), other);
      assert.equal(other.changed, 1);
      const [group] = other.groups;
      assert.deepEqual([group?.tool, group?.from, group?.to, group?.count], ['file_write', 'allow', 'deny', 1]);
      assert.equal(group?.examples[0]?.registry, 'other.yaml:2');
      assert.match(group?.examples[0]?.summary ?? '', /path="src\/a"/);
      const wider = await policy.simulate({ registry: textOf("shell_allow: ['^ls$']") });
      assert.deepEqual(
        wider.groups.map(({ tool, from, to }) => [tool, from, to]),
        [['shell_exec', 'deny', 'allow']],
      );
    }));

  test('names calls whose arguments were not kept: secrets, switched off, deleted', () =>
    withScratch(
      '',
      async (scratch) => {
        const { runtime, session } = scratch;
        await session.call('file_write', { path: 'a', content: 'the s3cr3t-of-the-host is here' });
        await session.call('file_read', { path: 'a' });
        await session.call('curl', { url: 'https://x.org/', headers: { Authorization: 'Bearer abc123def456' } });
        // No shape gives it away, and the tool is hidden here: only what the tool declares says that it is a secret.
        await session.call('curl', { url: 'https://x.org/', headers: { Cookie: 'sid=q8Zk2pLmN4wX' } });
        const { changed, judged, not_judged } = await runtime.policy.simulate({ registry: textOf('') });
        assert.deepEqual([changed, judged], [0, 1]);
        assert.deepEqual(
          not_judged.map(({ reason, count }) => [reason, count]),
          [['the arguments held a secret and were not kept', 3]],
        );
        const sealed = readFileSync(join(scratch.state, 'sealed-args', sealedFiles(scratch)[0] ?? ''));
        assert.ok(!sealed.includes('s3cr3t'));
        rmSync(join(scratch.state, 'sealed-args'), { recursive: true });
        const without = await runtime.policy.simulate({ registry: textOf('') });
        assert.deepEqual(
          without.not_judged.map(({ reason, count }) => [reason, count]),
          [['the arguments were not kept', 4]],
        );
        assert.equal(runtime.verify().ok, true);
      },
      { secrets: ['s3cr3t-of-the-host'] },
    ));

  test('keeps nothing when it is switched off, and plans and explanations are never kept', async () => {
    await withScratch('sealed_args: { keep: false }', async ({ runtime, session, state }) => {
      await session.call('file_read', { path: 'a' });
      assert.equal((await runtime.policy.simulate({ registry: textOf('') })).judged, 0);
      assert.ok(!readdirSync(state).includes('sealed-args'));
    });
    await withScratch('', async ({ runtime, session, state }) => {
      await session.propose({ steps: [{ tool: 'file_read', args: { path: 'a' } }] });
      await session.explain('file_read', { path: 'a' });
      await runtime.policy.simulate({ registry: textOf('') });
      assert.ok(!readdirSync(state).includes('sealed-args'));
    });
  });

  test('does not judge sessions that could do less than their registry', () =>
    withScratch('', async ({ runtime }) => {
      const session = await runtime.openSession({ registry: textOf('allowed_tools: [file_read]', 's.yaml') });
      await session.call('file_write', { path: 'a', content: '' });
      const { judged, not_judged } = await runtime.policy.simulate({ registry: textOf('') });
      assert.deepEqual([judged, not_judged[0]?.reason], [0, 'the session could do less than its registry says']);
    }));

  test('judges only calls since a time, and calls of an earlier process', async () => {
    let folders: { workspace: string; state: string } | undefined;
    await withScratch('', async ({ runtime, session, workspace, state }) => {
      await session.call('file_read', { path: 'a' });
      folders = { workspace, state };
      await runtime.close();
      const later = await createRuntime({ workspace, state });
      const simulate = (since: number) =>
        later.policy.simulate({ registry: textOf('tools: { file_read: { enabled: false } }'), since });
      assert.equal((await simulate(0)).changed, 1);
      assert.equal((await simulate(Date.now() + 60_000)).calls, 0);
      await later.close();
    });
    assert.ok(folders !== undefined);
  });
});

describe('runtime.policy.suggest', () => {
  test('spells out what was used, widens a folder only with a note, and takes over what was approved', () =>
    withScratch(
      "shell_allow: ['^ls( |$)']\napprovals: { auto_approve: [file_read], require_approval: [fs_delete] }\nbudgets: { max_calls: 100 }",
      async ({ runtime, session, workspace }) => {
        for (const name of ['a', 'b', 'c', 'd', 'e']) {
          writeFileSync(join(workspace, `${name}.md`), 'x');
          await session.call('file_read', { path: `${name}.md` });
        }
        await session.call('file_read', { path: 'other.txt' });
        await session.call('fs_delete', { path: 'a.md' });
        await session.call('shell_exec', { cmd: 'rm -r x' });
        const suggestion = await runtime.policy.suggest();
        assert.deepEqual(suggestionSchema.parse(suggestion), suggestion);
        assert.deepEqual([suggestion.calls, suggestion.left_out], [7, []]);
        const { registry } = suggestion;
        assert.match(registry, /- "\*\.md" # for .* and 2 more; WIDER than the calls: made from 5 paths/);
        assert.match(registry, /- "other\.txt" # for /);
        assert.match(registry, /- "fs_delete" # for \S+; ASKED UNTIL NOW, and approved 1 times/);
        assert.match(registry, /^budgets: \{"max_calls":100\}$/m);
        assert.doesNotMatch(registry, /require_approval|rm -r/);
      },
      { approvals: async () => ({ answer: 'approved', by: 'test' }) },
    ));
});

describe('runtime.policy.diff', () => {
  test('tells what becomes allowed, asked and denied, and nothing for the same text', () =>
    withScratch('', async ({ runtime }) => {
      const a = textOf("shell_allow: ['^(ls|wc)( |$)']\nnetwork: { allowed_domains: [a.org] }", 'a.yaml');
      const b = textOf(
        "shell_allow: ['^ls( |$)']\nnetwork: { allowed_domains: [a.org, '*.b.org'] }\narg_constraints: [{ tool: file_write, arg_patterns: ['docs/*'] }]\napprovals: { auto_approve: ['*'], auto_deny: [fs_delete] }\nvalidators: [{ rule: secrets.scan }]\nbudgets: { max_calls: 3 }",
        'b.yaml',
      );
      const diff = await runtime.policy.diff(a, b);
      assert.deepEqual(policyDiffSchema.parse(diff), diff);
      const lines = diff.changes.map(({ kind, subject, from, to }) => `${kind} ${subject}: ${from} → ${to}`);
      for (const line of [
        'program shell_exec wc: allow → deny',
        'host curl sub.b.org: deny → allow',
        'tool fs_delete: allow → deny',
        'tool file_write: allow → deny',
        'rule secrets.scan: off → blocking',
        'setting budgets: default → {"max_calls":3}',
      ]) {
        assert.ok(lines.includes(line), `${line}\n${lines.join('\n')}`);
      }
      assert.ok(!lines.some((line) => line.includes('shell_exec ls:') || line.includes('a.org:')), lines.join('\n'));
      assert.deepEqual(await runtime.policy.diff(a, { ...a, file: 'c.yaml' }), { changed: 0, changes: [] });
    }));
});

describe('rehearsals in a process that serves others', () => {
  test('let others have their turn between two calls', () =>
    withScratch('', async ({ runtime, session }) => {
      for (let at = 0; at < 20; at += 1) await session.call('file_read', { path: `f${at}` });
      let turns = 0;
      let isOver = false;
      const count = (): void => {
        turns += 1;
        if (!isOver) setImmediate(count);
      };
      setImmediate(count);
      const { judged } = await runtime.policy.simulate({ registry: textOf('') });
      isOver = true;
      assert.ok(judged === 20 && turns >= 20, `${turns} turns for ${judged} calls`);
    }));

  test('refuse to compare registries with more patterns than can be tried (deep)', () =>
    withScratch('', async ({ runtime }) => {
      const patterns = Array.from({ length: 3000 }, (_, at) => `p${at}/**`);
      const large = (text: string) => textOf(`arg_constraints: [{ tool: '*', arg_patterns: [${text}] }]\n`);
      await assert.rejects(
        runtime.policy.diff(large(patterns.join(', ')), large('a/**')),
        (error) => isToolError(error) && error.details['reason'] === 'too_many_probes',
      );
      const few = textOf("arg_constraints: [{ tool: file_write, arg_patterns: ['a/**', 'b/**'] }]\n");
      assert.ok((await runtime.policy.diff(few, textOf(''))).changed > 0);
    }));
});
