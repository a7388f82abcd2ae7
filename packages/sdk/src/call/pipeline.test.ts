import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { type JsonValue, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { createRepository, openGitRuntime } from '../../test/git-repository.ts';
import type { Hook } from '../contracts/policy.ts';
import { defineRule } from '../contracts/rule.ts';
import { type AnyTool, defineTool } from '../contracts/tool.ts';
import type { RuntimeOptions } from '../runtime.ts';
import { createCounter, nothing, wait } from '../testing/probe-tools.ts';
import { openScratchRuntime, type ScratchRuntime } from '../testing/scratch-runtime.ts';

async function withScratch(
  options: Partial<RuntimeOptions>,
  use: (scratch: ScratchRuntime) => Promise<void>,
): Promise<void> {
  const scratch = await openScratchRuntime(options);
  try {
    await use(scratch);
  } finally {
    await scratch.dispose();
  }
}

function kinds(scratch: ScratchRuntime): string[] {
  return [...scratch.runtime.records()].map((record) => record.kind).filter((kind) => kind !== 'session');
}

describe('the path of a call', () => {
  test('an allowed call is answered and leaves request, decision, intent and result in that order [S0-4 S1-24 S1-38 S0-74]', () =>
    withScratch({ tools: [nothing] }, async (scratch) => {
      const response = await scratch.session.call('probe_nothing', { text: 'hi' }, { requestId: 'req-1' });
      const { duration_ms, ...rest } = response;
      assert.equal(typeof duration_ms, 'number');
      assert.deepEqual(rest, {
        type: 'ToolResponse',
        ok: true,
        tool: 'probe_nothing',
        request_id: 'req-1',
        data: { text: 'hi' },
        errors: [],
        warnings: [],
      });
      assert.deepEqual(kinds(scratch), ['requested', 'decision', 'intent', 'result']);
      const result = [...scratch.runtime.records({ kind: 'result' })][0];
      assert.ok(result?.kind === 'result');
      assert.ok(result.end_ts >= result.start_ts);
      assert.match(result.args_hash, /^hmac-sha256:[0-9a-f]{64}$/);
    }));

  test('4.3 an unknown tool is E_POLICY, names the nearest one, runs nothing and is on record [S1-17 S1-39]', () =>
    withScratch({ tools: [nothing] }, async (scratch) => {
      const response = await scratch.session.call('probe_nothin', {});
      assert.equal(response.errors[0]?.code, 'E_POLICY');
      assert.match(JSON.stringify(response.errors[0]?.details), /probe_nothing/);
      assert.deepEqual(kinds(scratch), ['requested', 'decision']);
    }));

  test('4.3 bad arguments are E_VALIDATION_FAIL naming the field; the twin with an alias passes [S2-14 S2-15]', () =>
    withScratch({}, async (scratch) => {
      writeFileSync(join(scratch.workspace, 'a.txt'), 'A');
      const read = (args: unknown) => scratch.session.call('file_read' as string, args);
      const bad = await read({ path: 'a.txt', max_bytes: -1, extra: true });
      assert.equal(bad.errors[0]?.code, 'E_VALIDATION_FAIL');
      assert.match(bad.errors[0]?.message ?? '', /max_bytes/);
      assert.match(bad.errors[0]?.message ?? '', /extra/);
      const missing = await read({});
      assert.match(missing.errors[0]?.message ?? '', /path/);
      const both = await read({ path: 'a.txt', file: 'b.txt' });
      assert.equal(both.errors[0]?.code, 'E_VALIDATION_FAIL');
      const alias = await read({ file: 'a.txt' });
      assert.equal(alias.ok, true);
      for (const args of [null, 'a.txt', ['a.txt'], 7, undefined]) {
        assert.equal((await read(args)).errors[0]?.code, 'E_VALIDATION_FAIL');
      }
    }));

  test('arguments without a canonical form cannot be recorded, so they do not run; the twin does [S1-38]', () =>
    withScratch({ tools: [nothing] }, async ({ session }) => {
      const broken = await session.call('probe_nothing', { text: 'half \ud83d' });
      assert.equal(broken.errors[0]?.code, 'E_VALIDATION_FAIL');
      assert.match(broken.errors[0]?.message ?? '', /no JSON form/);
      assert.equal((await session.call('probe_nothing', { text: 'whole \u{1f600}' })).ok, true);
    }));

  test('an answer that breaks the contract of its tool is kept back, one that keeps it arrives [S0-9]', () => {
    const answering = (name: string, count: unknown) =>
      defineTool({
        ...nothing,
        name,
        data: z.strictObject({ count: z.int() }),
        rehearse: 'none',
        run: () => ({ count }) as { count: number },
      });
    return withScratch(
      { tools: [answering('probe_liar', 'secret'), answering('probe_honest', 1)] },
      async (scratch) => {
        const broken = await scratch.session.call('probe_liar', {});
        assert.deepEqual([broken.ok, broken.data, broken.errors[0]?.code], [false, null, 'E_INTERNAL']);
        assert.deepEqual((await scratch.session.call('probe_honest', {})).data, { count: 1 });
      },
    );
  });

  test('a tool that promises inline results cannot answer with a handle only [S2-23]', () => {
    const handle = `artifact:${'0'.repeat(32)}`;
    const reference = { artifact: handle, digest: `sha256:${'0'.repeat(64)}`, bytes: 3, next: null };
    const answers: readonly (readonly [boolean, boolean, JsonValue])[] = [
      [true, false, handle],
      [true, false, reference],
      [true, false, { parts: [reference, reference] }],
      [true, true, { ...reference, text: 'abc' }],
      [true, true, { count: 1 }],
      [true, true, {}],
      [false, true, reference],
    ];
    const { measure: _, present: __, ...probe } = nothing;
    const tools = answers.map(([inline_result, , data], index) =>
      defineTool({
        ...probe,
        name: `probe_${index}`,
        data: z.json(),
        annotations: { ...nothing.annotations, inline_result },
        rehearse: 'none',
        run: () => data as never,
      }),
    );
    return withScratch({ tools }, async ({ session }) => {
      for (const [index, [, isAccepted]] of answers.entries()) {
        const { ok, errors } = await session.call(`probe_${index}`, {});
        assert.equal(ok, isAccepted, `${index}: ${JSON.stringify(errors)}`);
        if (!isAccepted) assert.equal(errors[0]?.details?.['reason'], 'handles_only');
      }
    });
  });

  test('what is refused or fails shows no known secret, and records no shape of one either [S0-13 S0-74]', () => {
    const shape = `ghp_${'a1'.repeat(15)}`;
    const token = `known-to-all ${shape}`;
    const failing = defineTool({
      ...nothing,
      name: 'probe_failing',
      run: () => {
        throw new ToolError('E_FILE_IO', `Cannot log in with ${token}`);
      },
    });
    const text = 'version: 1\narg_constraints: [{ tool: file_read, arg_patterns: ["docs/**"] }]\n';
    return withScratch(
      { tools: [failing], registry: { file: 'r.yaml', text }, secrets: ['known-to-all'] },
      async (scratch) => {
        const refused = await scratch.session.call('file_read', { path: token });
        assert.equal(refused.errors[0]?.message, `Argument is not allowed by policy: path = "[redacted] ${shape}"`);
        const failed = await scratch.session.call('probe_failing', {});
        assert.equal(failed.errors[0]?.message, `Cannot log in with [redacted] ${shape}`);
        assert.deepEqual([refused.redacted, failed.redacted], [1, 1]);
        const decided = [...scratch.runtime.records()].filter(({ kind }) => kind === 'decision' || kind === 'result');
        assert.equal(decided.length, 3);
        assert.doesNotMatch(JSON.stringify(decided), /ghp_|known-to-all/);
        assert.deepEqual(
          decided.map((record) => (record.kind === 'result' ? record.redacted : 0)),
          [0, 0, 1],
        );
      },
    );
  });

  test('a path outside the root is E_POLICY and nothing is touched, by name and by link [S0-34 S0-61]', () =>
    withScratch({}, async (scratch) => {
      const outside = join(scratch.workspace, '..', 'outside.txt');
      writeFileSync(outside, 'secret');
      symlinkSync('../outside.txt', join(scratch.workspace, 'link'));
      symlinkSync('..', join(scratch.workspace, 'up'));
      for (const path of ['../outside.txt', outside, 'link', 'up/outside.txt', 'a/../../outside.txt']) {
        const read = await scratch.session.call('file_read', { path });
        assert.equal(read.errors[0]?.code, 'E_POLICY', path);
        const write = await scratch.session.call('file_write', { path, content: 'x' });
        assert.equal(write.errors[0]?.code, 'E_POLICY', path);
        assert.equal(read.errors[0]?.details?.['rule'], 'sec.paths.sandbox', path);
      }
      assert.equal(readFileSync(outside, 'utf8'), 'secret');
      writeFileSync(join(scratch.workspace, 'inside.txt'), 'fine');
      symlinkSync('inside.txt', join(scratch.workspace, 'inner'));
      assert.equal((await scratch.session.call('file_read', { path: 'inner' })).ok, true);
    }));

  test('a throwing tool becomes one coded response that does not leak the cause [S0-9]', () => {
    const counter = createCounter();
    const unexpected: unknown[] = [];
    return withScratch(
      { tools: [counter.tool], onUnexpected: (error) => unexpected.push(error.cause) },
      async (scratch) => {
        const response = await scratch.session.call('probe_count', { fail: true });
        assert.equal(response.ok, false);
        assert.equal(response.errors.length, 1);
        assert.equal(response.errors[0]?.code, 'E_INTERNAL');
        assert.doesNotMatch(JSON.stringify([response, ...scratch.runtime.records()]), /secret cause/);
        assert.match(String(unexpected[0]), /secret cause/);
      },
    );
  });

  test('a tool over its limit is E_TIMEOUT; the caller may lower the limit, never raise it [S0-80]', () =>
    withScratch({ tools: [wait] }, async ({ session }) => {
      const late = await session.call('probe_wait', { ms: 5_000 }, { timeoutMs: 20 });
      assert.equal(late.errors[0]?.code, 'E_TIMEOUT');
      assert.equal(late.errors[0]?.details?.['timeout_ms'], 20);
      const inTime = await session.call('probe_wait', { ms: 1 }, { timeoutMs: 60_000 });
      assert.equal(inTime.ok, true);
      const limited = await openScratchRuntime({
        tools: [wait],
        registry: {
          file: 'r.yaml',
          text: 'version: 1\ntools: { probe_wait: { timeout_ms: 10, max_timeout_ms: 20 } }\n',
        },
      });
      const raised = await limited.session.call('probe_wait', { ms: 3_000 }, { timeoutMs: 5_000 });
      assert.equal(raised.errors[0]?.code, 'E_TIMEOUT');
      assert.ok(Number(raised.errors[0]?.details?.['timeout_ms']) <= 20);
      await limited.dispose();
    }));

  test('a limit that a call may choose by argument ends where the registry says [S0-80]', () => {
    const patient = defineTool({ ...wait, name: 'probe_patient', timeoutArg: 'ms', maxTimeoutMs: 60_000 });
    const text = 'version: 1\ntools: { probe_patient: { max_timeout_ms: 20 } }\n';
    return withScratch({ tools: [patient], registry: { file: 'r.yaml', text } }, async ({ session }) => {
      const cut = await session.call('probe_patient', { ms: 3_000 });
      assert.equal(cut.errors[0]?.details?.['timeout_ms'], 20);
      assert.equal(
        (await session.call('probe_patient', { ms: 3_000 }, { timeoutMs: 10 })).errors[0]?.code,
        'E_TIMEOUT',
      );
    });
  });

  test('4.3 a cancelled call is E_INTERNAL with reason cancelled, before and while it runs', () =>
    withScratch({ tools: [wait] }, async (scratch) => {
      const cancel = new AbortController();
      scratch.session.listen(() => cancel.abort(), { events: 'progress' });
      const running = scratch.session.call('probe_wait', { ms: 60_000 }, { signal: cancel.signal });
      const response = await running;
      assert.deepEqual(
        [response.errors[0]?.code, response.errors[0]?.details?.['reason']],
        ['E_INTERNAL', 'cancelled'],
      );
      const already = await scratch.session.call('probe_wait', { ms: 5_000 }, { signal: AbortSignal.abort() });
      assert.equal(already.errors[0]?.details?.['reason'], 'cancelled');
      const statuses = [...scratch.runtime.records({ kind: 'result' })].map((r) => r.kind === 'result' && r.status);
      // One that was cancelled before it began has no intent, so it has no result either.
      assert.deepEqual(statuses, ['cancelled']);
      const decisions = [...scratch.runtime.records({ kind: 'decision' })].map((r) => r.kind === 'decision' && r.code);
      assert.equal(decisions.at(-1), 'cancelled');
    }));

  test('events show pending, the phases, progress and the end, in order and before the answer [S0-5 S0-73 S2-31]', () =>
    withScratch({ tools: [wait] }, async ({ session }) => {
      const seen: string[] = [];
      session.listen(({ message }) =>
        seen.push(message.event === 'TaskProgress' ? `pct ${message.progress.pct}` : message.progress.message),
      );
      await session.call('probe_wait', { ms: 1 });
      assert.deepEqual(seen, ['pre-check', 'execute', 'pct 10', 'pct 90', 'sync', 'validate', 'emit', 'completed']);
      seen.length = 0;
      await session.call('nope', {});
      assert.deepEqual(seen, ['pre-check', 'Tool is not in the package: nope', 'failed']);
    }));

  test('a tool that is not annotated, or exceeds the ceiling, is hidden with its reason and refused [S2-18 S2-25]', () => {
    const bare = defineTool({ ...nothing, name: 'probe_bare', annotations: undefined as never });
    const process = defineTool({
      ...nothing,
      name: 'probe_process',
      annotations: { kind: 'execute', side_effect_level: 'process_exec', inline_result: true },
    });
    return withScratch({ tools: [nothing, bare, process] }, async ({ session }) => {
      assert.deepEqual(
        session
          .hidden()
          .map((tool) => tool.name)
          .filter((name) => name.startsWith('probe_'))
          .sort(),
        ['probe_bare', 'probe_process'],
      );
      assert.equal((await session.call('probe_process', {})).errors[0]?.code, 'E_POLICY');
      assert.equal((await session.call('probe_nothing', {})).ok, true);
    });
  });

  test('a tool whose call only reads gets a workspace that cannot write', () => {
    const sneaky = defineTool({
      ...nothing,
      name: 'probe_sneaky',
      async run(_args, { workspace }) {
        await workspace.writeFile('sneaked.txt', new Uint8Array());
        return {};
      },
    });
    return withScratch({ tools: [sneaky] }, async (scratch) => {
      const response = await scratch.session.call('probe_sneaky', {});
      assert.equal(response.errors[0]?.code, 'E_POLICY');
      assert.equal(existsSync(join(scratch.workspace, 'sneaked.txt')), false);
    });
  });
});

describe('capabilities of a call', () => {
  test('a tool that is shown for its harmless calls is refused the others at the ceiling [S2-18]', () => {
    const mixed = defineTool({
      ...(nothing as AnyTool),
      name: 'probe_mixed',
      args: z.strictObject({ write: z.boolean() }),
      annotations: { kind: 'edit', side_effect_level: 'workspace_write' },
      leastLevel: 'read_only',
      profile: ({ write }) => (write ? {} : { kind: 'read', side_effect_level: 'read_only' }),
      run: () => ({}),
    });
    const registry = { file: 'r.yaml', text: 'version: 1\nside_effect_level: read_only\n' };
    return withScratch({ tools: [mixed], registry }, async ({ session }) => {
      const refused = await session.call('probe_mixed', { write: true });
      assert.equal(refused.errors[0]?.details?.['reason'], 'side_effect_ceiling');
      assert.equal((await session.call('probe_mixed', { write: false })).ok, true);
    });
  });

  test('a call below its level gets a git that cannot change, or cannot reach a remote; the others can [S0-34]', async () => {
    const levels = ['read_only', 'workspace_write', 'network'] as const;
    const probing = (level: (typeof levels)[number]) =>
      defineTool({
        ...nothing,
        name: `probe_${level}`,
        annotations: { kind: level === 'read_only' ? 'read' : 'edit', side_effect_level: level },
        timeoutMs: 120_000,
        run: async (_args, { git }) => {
          const gateOf = async (attempt: Promise<unknown>) =>
            attempt.then(
              () => 'done',
              (thrown) => (thrown as ToolError).details['gate'] ?? 'done',
            );
          return {
            look: await gateOf(git.run({ words: ['status'], access: 'read' })),
            change: await gateOf(git.run({ words: ['tag', level], access: 'write' })),
            remote: await gateOf(git.remote('origin', 'fetch')),
          };
        },
      });
    const repository = createRepository({ files: { 'a.txt': 'a' } });
    const { ask, dispose } = await openGitRuntime(repository, {
      tools: levels.map(probing),
      registry: 'version: 1\nside_effect_level: network\n',
    });
    const answers: unknown[] = [];
    // One after the other: on a busy machine the last would wait for its lock too long.
    for (const level of levels) answers.push((await ask(`probe_${level}`, {})).data);
    assert.deepEqual(answers, [
      { look: 'done', change: 'git', remote: 'git' },
      { look: 'done', change: 'done', remote: 'git' },
      { look: 'done', change: 'done', remote: 'done' },
    ]);
    assert.equal(repository.git('tag').trim(), 'network\nworkspace_write');
    await dispose();
    repository.dispose();
  });

  test('a rule gets a git that looks and cannot change [S0-34]', async () => {
    const words = { look: ['status'], change: ['tag', 'made-by-a-rule'] };
    const judging = (id: 'look' | 'change') =>
      defineRule({
        id,
        category: 'Test',
        description: 'Asks git',
        phase: 'before',
        trigger: 'always',
        defaultEnforcement: 'blocking',
        appliesTo: ({ args }) => args['text'] === id,
        check: async (_subject, { git }) => {
          await git.run({ words: words[id], access: id === 'look' ? 'read' : 'write' });
          return [];
        },
      });
    const repository = createRepository({ files: { 'a.txt': 'a' } });
    const registry = 'version: 1\nvalidators: [{ rule: look }, { rule: change }]\n';
    const rules = [judging('look'), judging('change')];
    const { ask, dispose } = await openGitRuntime(repository, { tools: [nothing], rules, registry });
    assert.match((await ask('probe_nothing', { text: 'change' })).errors[0]?.message ?? '', /may not change/);
    assert.equal(repository.git('tag'), '');
    assert.equal((await ask('probe_nothing', { text: 'look' })).ok, true);
    await dispose();
    repository.dispose();
  });

  test('a tool whose call may not start processes gets a runner that refuses', () => {
    const sneaky = defineTool({
      ...nothing,
      name: 'probe_starter',
      async run(_args, { commands }) {
        const list = { pipelines: [{ operator: null, commands: [{ argv: ['true'], column: 1 }] }] };
        const running = await commands.start({
          list,
          cwd: '.',
          env: {},
          stdin: null,
          network: false,
          maxOutputBytes: 10,
        });
        return { code: (await running.done).code };
      },
    });
    const registry = { file: 'r.yaml', text: "version: 1\nshell_allow: ['^true$']\n" };
    return withScratch({ tools: [sneaky], registry }, async ({ session }) => {
      assert.equal((await session.call('probe_starter', {})).errors[0]?.code, 'E_POLICY');
      assert.equal((await session.call('shell_exec', { cmd: 'true' })).ok, true);
    });
  });
});

describe('hooks', () => {
  const hook = (before: Hook['before'], tools = '*'): Hook => ({
    id: `hook-${tools}`,
    tools,
    ...(before ? { before } : {}),
  });

  test('finding 9: a hook that rewrites a path to outside the root is judged again and denied [S2-28]', () =>
    withScratch({ hooks: [hook(() => ({ type: 'modify', args: { path: '../outside' } }))] }, async (scratch) => {
      writeFileSync(join(scratch.workspace, 'a'), 'A');
      const response = await scratch.session.call('file_read', { path: 'a' });
      assert.equal(response.errors[0]?.details?.['rule'], 'sec.paths.sandbox');
      assert.deepEqual(kinds(scratch), ['requested', 'hook', 'decision']);
    }));

  test('a rewrite inside the root is what runs [S2-28]', () =>
    withScratch({ hooks: [hook(() => ({ type: 'modify', args: { path: 'b' } }))] }, async (scratch) => {
      writeFileSync(join(scratch.workspace, 'a'), 'A');
      writeFileSync(join(scratch.workspace, 'b'), 'B');
      const response = await scratch.session.call('file_read', { path: 'a' });
      assert.equal((response.data as { content: string }).content, 'B');
    }));

  test('a denying hook and a throwing hook both refuse, and the tool does not run [S2-28]', async () => {
    const counter = createCounter();
    for (const before of [
      () => ({ type: 'deny', reason: 'no' }) as const,
      () => {
        throw new TypeError('broken hook');
      },
    ]) {
      await withScratch({ tools: [counter.tool], hooks: [hook(before)] }, async (scratch) => {
        assert.equal((await scratch.session.call('probe_count', {})).errors[0]?.code, 'E_POLICY');
      });
    }
    assert.equal(counter.runs.count, 0);
  });

  test('after hooks may rewrite the data; the rewrite is on record', () => {
    const after: Hook = { id: 'after', tools: '*', after: () => ({ type: 'modify', data: { rewritten: true } }) };
    return withScratch({ tools: [nothing], hooks: [after] }, async (scratch) => {
      assert.deepEqual((await scratch.session.call('probe_nothing', {})).data, { rewritten: true });
      assert.equal(kinds(scratch).at(-1), 'hook');
    });
  });

  test('an after hook that breaks keeps the data back, one that passes does not [S2-28]', async () => {
    const after = (answer: () => { type: 'pass' }): Hook => ({ id: 'after', tools: '*', after: answer });
    const broken = after(() => {
      throw new TypeError('broken hook');
    });
    await withScratch({ tools: [nothing], hooks: [broken] }, async ({ session }) => {
      const response = await session.call('probe_nothing', { text: 'hi' });
      assert.deepEqual([response.ok, response.data, response.errors[0]?.code], [false, null, 'E_POLICY']);
    });
    await withScratch({ tools: [nothing], hooks: [after(() => ({ type: 'pass' }))] }, async ({ session }) => {
      assert.deepEqual((await session.call('probe_nothing', { text: 'hi' })).data, { text: 'hi' });
    });
  });
});

describe('policy port and approvals', () => {
  const outcome = (type: 'allow' | 'deny' | 'ask', stage: 'pre_tool' | 'post_tool') =>
    ({
      stage,
      decision: { type, reason: { code: `test.${type}` } },
      policy_refs: [],
      privacy: 'internal',
      retention: 'run_scoped',
    }) as const;
  const policy = (pre: 'allow' | 'deny' | 'ask', post: 'allow' | 'deny' = 'allow') => ({
    evaluatePreTool: () => outcome(pre, 'pre_tool'),
    evaluatePostTool: () => outcome(post, 'post_tool'),
  });

  test('a denying and a throwing policy refuse; a post-tool denial withholds the data although the tool ran [S1-33]', async () => {
    const counter = createCounter();
    await withScratch({ tools: [counter.tool], policy: policy('deny') }, async ({ session }) => {
      assert.equal((await session.call('probe_count', {})).errors[0]?.code, 'E_POLICY');
    });
    const throwing = {
      ...policy('allow'),
      evaluatePreTool: () => {
        throw new TypeError('policy broke');
      },
    };
    await withScratch({ tools: [counter.tool], policy: throwing }, async ({ session }) => {
      assert.equal((await session.call('probe_count', {})).ok, false);
    });
    assert.equal(counter.runs.count, 0);
    await withScratch({ tools: [counter.tool], policy: policy('allow', 'deny') }, async (scratch) => {
      const response = await scratch.session.call('probe_count', {});
      assert.deepEqual([response.ok, response.data, response.errors[0]?.code], [false, null, 'E_POLICY']);
    });
    assert.equal(counter.runs.count, 1);
  });

  test('finding 5: ask reaches the broker; yes runs, no and a missing approver do not, and the question is on record first', async () => {
    const counter = createCounter();
    const options = { tools: [counter.tool], policy: policy('ask') };
    await withScratch(options, async ({ session }) => {
      const response = await session.call('probe_count', {});
      assert.equal(response.errors[0]?.details?.['reason'], 'missing.approval_dispatcher');
    });
    const deny = { ask: async () => ({ answer: 'denied', by: 'ann' }) as const };
    await withScratch({ ...options, approvals: deny }, async ({ session }) => {
      assert.equal((await session.call('probe_count', {})).errors[0]?.details?.['reason'], 'approval.denied');
    });
    assert.equal(counter.runs.count, 0);
    const approve = { ask: async () => ({ answer: 'approved', by: 'ann' }) as const };
    await withScratch({ ...options, approvals: approve }, async (scratch) => {
      assert.equal((await scratch.session.call('probe_count', {})).ok, true);
      assert.deepEqual(kinds(scratch), [
        'requested',
        'decision',
        'approval',
        'approval',
        'decision',
        'intent',
        'result',
      ]);
    });
  });

  test('edited arguments are judged again: an escape is refused, a harmless edit runs [S1-40]', async () => {
    const editing = (path: string) => ({
      ask: async (request: { call: { args: object } }) => {
        const isEdited = (request.call.args as { path: string }).path === path;
        return { answer: 'approved', by: 'ann', ...(isEdited ? {} : { args: { path, content: 'edited' } }) } as const;
      },
    });
    await withScratch({ policy: policy('ask'), approvals: editing('../out.txt') }, async (scratch) => {
      const response = await scratch.session.call('file_write', { path: 'a.txt', content: 'x' });
      assert.equal(response.errors[0]?.details?.['rule'], 'sec.paths.sandbox');
    });
    await withScratch({ policy: policy('ask'), approvals: editing('b.txt') }, async (scratch) => {
      const response = await scratch.session.call('file_write', { path: 'a.txt', content: 'x' });
      assert.equal(response.ok, true);
      assert.equal(readFileSync(join(scratch.workspace, 'b.txt'), 'utf8'), 'edited');
      assert.equal(existsSync(join(scratch.workspace, 'a.txt')), false);
    });
  });

  test('an approver who keeps editing is not followed for ever [S1-40]', async () => {
    const counter = createCounter();
    const editing = (edits: number) => {
      let asked = 0;
      return {
        ask: async () => {
          asked += 1;
          return { answer: 'approved', by: 'ann', ...(asked > edits ? {} : { args: { n: asked } }) } as const;
        },
      };
    };
    await withScratch({ tools: [counter.tool], policy: policy('ask'), approvals: editing(10) }, async ({ session }) => {
      assert.equal((await session.call('probe_count', {})).errors[0]?.code, 'E_POLICY');
    });
    assert.equal(counter.runs.count, 0);
    await withScratch({ tools: [counter.tool], policy: policy('ask'), approvals: editing(2) }, async ({ session }) => {
      assert.deepEqual((await session.call('probe_count', {})).data, { n: 2, run: 1 });
    });
  });

  test('the approval policy of the registry asks, and lets the others pass [S2-27]', () => {
    const text = 'version: 1\napprovals: { auto_approve: ["probe_*"], require_approval: [file_read] }\n';
    return withScratch({ tools: [nothing], registry: { file: 'r.yaml', text } }, async ({ session }) => {
      const asked = await session.call('file_read', { path: 'a' });
      assert.equal(asked.errors[0]?.details?.['reason'], 'missing.approval_dispatcher');
      assert.equal((await session.call('probe_nothing', {})).ok, true);
    });
  });

  test('an approval for the session is asked once [S1-40]', async () => {
    let asked = 0;
    const approvals = {
      ask: async () => {
        asked += 1;
        return { answer: 'approved_for_session', by: 'ann' } as const;
      },
    };
    await withScratch({ tools: [nothing], policy: policy('ask'), approvals }, async ({ runtime, session }) => {
      await session.call('probe_nothing', {});
      await session.call('probe_nothing', {});
      assert.equal(asked, 1);
      const other = await runtime.openSession();
      await other.call('probe_nothing', {});
      assert.equal(asked, 2);
    });
  });
});

describe('keys, budgets and the registry', () => {
  test('4.7 a repeated key is answered from the record; other arguments under it are refused [S1-43]', async () => {
    const counter = createCounter();
    await withScratch({ tools: [counter.tool] }, async (scratch) => {
      const first = await scratch.session.call('probe_count', { n: 1 }, { idempotencyKey: 'k' });
      const again = await scratch.session.call('probe_count', { n: 1 }, { idempotencyKey: 'k' });
      assert.deepEqual(again.data, first.data);
      assert.equal(counter.runs.count, 1);
      const conflict = await scratch.session.call('probe_count', { n: 2 }, { idempotencyKey: 'k' });
      assert.equal(conflict.errors[0]?.details?.['reason'], 'key_conflict');
      const fresh = await scratch.session.call('probe_count', { n: 2 }, { idempotencyKey: 'other' });
      assert.equal(fresh.ok, true);
      assert.equal(counter.runs.count, 2);
    });
  });

  test('a call with both keys is known by each of them afterwards, also to another actor [S1-43]', async () => {
    const counter = createCounter();
    const { runtime, session, dispose } = await openScratchRuntime({ tools: [counter.tool] });
    const other = await runtime.openSession({ actor: 'another' });
    const both = { idempotencyKey: 'i', dedupeKey: 'd' };
    const first = await session.call('probe_count', { n: 1 }, both);
    const byEach = [
      await session.call('probe_count', { n: 1 }, both),
      await session.call('probe_count', { n: 1 }, { idempotencyKey: 'i' }),
      await session.call('probe_count', { n: 1 }, { idempotencyKey: 'new', dedupeKey: 'd' }),
      await other.call('probe_count', { n: 1 }, { dedupeKey: 'd' }),
    ];
    assert.deepEqual(
      byEach.map(({ data }) => data),
      byEach.map(() => first.data),
    );
    assert.equal(counter.runs.count, 1);
    const taken = await session.call('probe_count', { n: 2 }, { idempotencyKey: 'fresh', dedupeKey: 'd' });
    assert.equal(taken.errors[0]?.details?.['reason'], 'key_conflict');
    // The refused call claimed neither key.
    assert.equal((await session.call('probe_count', { n: 2 }, { idempotencyKey: 'fresh' })).ok, true);
    await dispose();
  });

  test('of concurrent calls that share one of both keys exactly one runs [S1-43]', async () => {
    const counter = createCounter();
    const { session, dispose } = await openScratchRuntime({ tools: [counter.tool] });
    const calls = Array.from({ length: 8 }, (_, index) =>
      session.call('probe_count', { n: 1 }, { idempotencyKey: `own-${index}`, dedupeKey: 'shared' }),
    );
    const answers = await Promise.all(calls);
    assert.equal(counter.runs.count, 1);
    for (const answer of answers) {
      const reason = answer.errors[0]?.details?.['reason'];
      assert.ok(answer.ok || reason === 'key_taken' || reason === 'outcome_unknown', String(reason));
    }
    await dispose();
  });

  test('of many concurrent calls with one key exactly one runs [S1-43]', async () => {
    const counter = createCounter();
    await withScratch({ tools: [counter.tool] }, async ({ session }) => {
      const calls = Array.from({ length: 20 }, () => session.call('probe_count', {}, { dedupeKey: 'once' }));
      const responses = await Promise.all(calls);
      assert.equal(counter.runs.count, 1);
      assert.ok(responses.some((response) => response.ok));
      assert.equal((await session.call('probe_count', {}, { dedupeKey: 'once' })).ok, true);
      assert.equal(counter.runs.count, 1);
    });
  });

  test('while the outcome of a key is unknown it causes no second effect: running, and given up on [S1-43] (deep)', async () => {
    const release = Promise.withResolvers<void>();
    const runs: number[] = [];
    const slow = defineTool({
      ...createCounter('probe_slow').tool,
      args: z.strictObject({}),
      timeoutMs: 20,
      run: async () => {
        runs.push(runs.length);
        await release.promise;
        return {};
      },
    });
    await withScratch({ tools: [slow] }, async ({ session }) => {
      const again = async () => {
        const response = await session.call('probe_slow', {}, { idempotencyKey: 'k' });
        return response.errors[0]?.details?.['reason'];
      };
      const first = session.call('probe_slow', {}, { idempotencyKey: 'k' });
      while (runs.length === 0) await new Promise(setImmediate);
      assert.equal(await again(), 'outcome_unknown');
      assert.equal((await first).errors[0]?.code, 'E_TIMEOUT');
      assert.equal(await again(), 'outcome_unknown');
      release.resolve();
      assert.equal(runs.length, 1);
      assert.equal((await session.call('probe_slow', {}, { idempotencyKey: 'other' })).ok, true);
    });
  });

  test('a budget refuses before anything runs [S0-75]', async () => {
    const counter = createCounter();
    const registry = { file: 'r.yaml', text: 'version: 1\nbudgets:\n  max_calls: 1\n' };
    await withScratch({ tools: [counter.tool], registry }, async ({ session }) => {
      assert.equal((await session.call('probe_count', {})).ok, true);
      const refused = await session.call('probe_count', {});
      assert.equal(refused.errors[0]?.details?.['registry'], 'r.yaml:3');
      assert.equal(counter.runs.count, 1);
    });
  });

  test('a constraint on an argument that is not a path is checked too', () =>
    withScratch(
      {
        registry: {
          file: 'ops.yaml',
          text: 'version: 1\narg_constraints: [{ tool: file_read, arg_key: encoding, arg_patterns: ["utf-8"] }]\n',
        },
      },
      async ({ session, workspace }) => {
        writeFileSync(join(workspace, 'a'), 'A');
        const refused = await session.call('file_read', { path: 'a', encoding: 'latin1' });
        assert.equal(refused.errors[0]?.code, 'E_POLICY', JSON.stringify(refused.errors));
        assert.equal(refused.errors[0]?.details?.['gate'], 'arguments');
        assert.equal((await session.call('file_read', { path: 'a', encoding: 'utf-8' })).ok, true);
      },
    ));

  test('every refusal names the line of the registry that decided', () =>
    withScratch(
      {
        tools: [nothing],
        registry: {
          file: 'ops.yaml',
          text: [
            'version: 1',
            'side_effect_level: read_only',
            'arg_constraints:',
            '  - tool: file_read',
            '    arg_patterns: ["docs/**"]',
            'approvals:',
            '  auto_deny: [probe_*]',
            '',
          ].join('\n'),
        },
      },
      async (scratch) => {
        mkdirSync(join(scratch.workspace, 'docs'));
        writeFileSync(join(scratch.workspace, 'docs/a'), 'A');
        const write = await scratch.session.call('file_write', { path: 'docs/a', content: '' });
        assert.equal(write.errors[0]?.details?.['registry'], 'ops.yaml:2');
        const denied = await scratch.session.call('probe_nothing', {});
        assert.equal(denied.errors[0]?.details?.['registry'], 'ops.yaml:7');
        const constrained = await scratch.session.call('file_read', { path: 'src/a' });
        assert.equal(constrained.errors[0]?.code, 'E_POLICY');
        assert.match(String(constrained.errors[0]?.details?.['registry']), /^ops\.yaml:[345]$/);
        assert.equal((await scratch.session.call('file_read', { path: 'docs/a' })).ok, true);
        const decisions = [...scratch.runtime.records({ kind: 'decision' })];
        assert.equal(decisions.filter((r) => r.kind === 'decision' && r.registry !== undefined).length, 3);
      },
    ));
});

describe('what records hold of a failure', () => {
  test('what a program printed reaches the caller and not the journal', async () => {
    const talkative = defineTool({
      ...createCounter('probe_talk').tool,
      run() {
        throw new ToolError('E_SHELL', 'Ended badly', { details: { stdout: 'all it said', stderr: '', exit_code: 3 } });
      },
    });
    const { session, runtime, dispose } = await openScratchRuntime({ tools: [talkative] });
    const answer = await session.call('probe_talk', {});
    assert.equal(answer.errors[0]?.details?.['stdout'], 'all it said');
    const records = [...runtime.records()];
    assert.equal(JSON.stringify(records).includes('all it said'), false);
    const result = records.find((record) => record.kind === 'result');
    assert.deepEqual(result?.kind === 'result' && result.errors[0]?.details, {
      stdout_chars: 11,
      stderr_chars: 0,
      exit_code: 3,
      kind: 'tool_failure',
      retry: 'not_retryable',
    });
    await dispose();
  });
});
