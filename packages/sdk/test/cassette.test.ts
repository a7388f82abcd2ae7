import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { defineRule } from '../src/contracts/rule.ts';
import { defineTool } from '../src/contracts/tool.ts';
import { createRuntime } from '../src/runtime.ts';
import type { Session } from '../src/session/session.ts';
import { createTapeFolder, reasonOf, said, type TapedRun, type TapeFolder } from './cassette-run.ts';

const write = (session: Session, path: string, content = 'one\n') => session.call('file_write', { path, content });

/** A write, a read and a refusal. */
async function smallRun({ session }: Pick<TapedRun, 'session'>) {
  return [
    await write(session, 'a/b.txt'),
    await session.call('file_read', { path: 'a/b.txt' }),
    await session.call('file_read', { path: '/etc/passwd' }),
  ];
}

describe('a cassette', () => {
  test('answers the recorded calls and leaves the workspace alone', async () => {
    using tape = createTapeFolder();
    const recorded = await tape.run({}, smallRun);
    await tape.run({ mode: 'replay' }, async (run) => {
      const replayed = await smallRun(run);
      assert.deepEqual(
        replayed.map(({ ok, data, errors, warnings }) => ({ ok, data, errors, warnings })),
        recorded.map(({ ok, data, errors, warnings }) => ({ ok, data, errors, warnings })),
      );
      assert.deepEqual(readdirSync(run.workspace), []);
      const { replayed: count, left, failure } = run.runtime.cassette() ?? {};
      assert.deepEqual([count, left, failure], [3, 0, undefined]);
      const decisions = [...run.runtime.records({ kind: 'decision' })].map((record) =>
        record.kind === 'decision' ? `${record.outcome} ${record.gate} ${record.code}` : '',
      );
      assert.deepEqual(decisions.slice(0, 2), Array(2).fill('allow cassette answered_from_cassette'));
      assert.equal([...run.runtime.records({ kind: 'intent' })].length, 0);
      assert.equal(run.runtime.verify().ok, true);
    });
  });

  test('has the same bytes when the run is recorded again', async () => {
    using tape = createTapeFolder();
    await tape.run({}, smallRun);
    const first = tape.read();
    await tape.run({}, smallRun);
    assert.equal(tape.read(), first);
    assert.doesNotMatch(first, /tool-runtime-tape-|duration_ms/);
  });

  test('takes a mode and a file as two options as well, and refuses half of them', async () => {
    using tape = createTapeFolder();
    const { file } = { file: tape.file() };
    await tape.run({}, smallRun);
    await tape.run({}, async (run) => assert.equal((await smallRun(run))[0]?.ok, true), { cassette: 'replay', file });
    for (const options of [{ cassette: 'replay' }, { file }, { cassette: { mode: 'play', file } }] as const) {
      await assert.rejects(createRuntime({ workspace: '.', ...(options as object) }), /needs a mode and a file/);
    }
  });

  test('applies recorded file changes when asked, and only then', async () => {
    using tape = createTapeFolder();
    const calls = async ({ session }: TapedRun) => {
      await write(session, 'a/b.txt');
      await write(session, 'gone.txt');
      await session.call('fs_delete', { path: 'gone.txt' });
      await session.call('fs_move', { src: 'a/b.txt', dst: 'c.txt' });
    };
    await tape.run({}, calls);
    await tape.run({ mode: 'replay', applyFiles: true }, async (run) => {
      await calls(run);
      assert.equal(run.runtime.cassette()?.failure, undefined);
      assert.deepEqual(readdirSync(run.workspace).sort(), ['a', 'c.txt']);
      assert.equal(readFileSync(join(run.workspace, 'c.txt'), 'utf8'), 'one\n');
    });
    await tape.run({ mode: 'replay' }, async (run) => {
      await calls(run);
      assert.deepEqual(readdirSync(run.workspace), []);
    });
  });

  test('gives back what tools report while they run', async () => {
    using tape = createTapeFolder();
    const slow = defineTool({
      name: 'slow_count',
      category: 'text',
      title: 'Count',
      summary: 'Counts',
      args: z.strictObject({}),
      data: z.strictObject({ n: z.int() }),
      annotations: { kind: 'read', side_effect_level: 'read_only' },
      effect: 'read',
      risk: 'low',
      timeoutMs: 60_000,
      run(_args, { progress }) {
        for (const n of [1, 2]) progress(n * 10, `step ${n}`, { n });
        return { n: 2 };
      },
    });
    const heard = ({ session }: TapedRun) => {
      const messages: unknown[] = [];
      session.listen(({ message: { event, progress, data } }) => messages.push([event, progress, data]), {
        events: 'progress',
      });
      return session.call('slow_count', {}).then(({ ok, errors }) => {
        assert.equal(ok, true, JSON.stringify(errors));
        return messages;
      });
    };
    const live = await tape.run({}, heard, { tools: [slow] });
    assert.equal(live.length, 2);
    assert.deepEqual(await tape.run({ mode: 'replay' }, heard, { tools: [slow] }), live);
  });

  test('answers parallel batches and children', async () => {
    using tape = createTapeFolder();
    const registry = { file: 'r.yaml', text: 'version: 1\nshell: { mode: sandboxed }\n' };
    const calls = async ({ session }: TapedRun) => {
      const items = ['x', 'y', 'z'].map((path) => ({ tool: 'file_write', args: { path, content: path } }));
      const parallel = await session.batch(items, { strategy: { type: 'bounded_concurrent', max_in_flight: 3 } });
      const child = await session.openChild({ agentId: 'reader' });
      const read = await child.call('file_read', { path: 'x' });
      const refused = await child.call('file_write', { path: 'x', content: '' });
      await child.complete();
      return [...parallel, read, refused].map(({ ok, data }) => ({ ok, data }));
    };
    const live = await tape.run({}, calls, { registry });
    assert.deepEqual(
      live.map(({ ok }) => ok),
      [true, true, true, true, false],
    );
    const first = tape.read();
    await tape.run({}, calls, { registry });
    assert.equal(tape.read(), first);
    assert.deepEqual(await tape.run({ mode: 'replay' }, calls, { registry }), live);
    assert.deepEqual(
      tape.lines().map(({ session }) => session),
      [undefined, 1, 1, 1, 2, 2],
    );
  });

  test('lets handles of earlier answers be used in later calls', async () => {
    using tape = createTapeFolder();
    const calls = async ({ session }: TapedRun) => {
      const { change_id = '' } = await write(session, 'a.txt');
      const shown = await session.call('change_show', { change_id });
      const undone = await session.call('change_undo', { change_id });
      return [shown.ok, undone.ok];
    };
    assert.deepEqual(await tape.run({}, calls), [true, true]);
    assert.deepEqual(await tape.run({ mode: 'replay' }, calls), [true, true]);
  });
});

describe('a call that differs', () => {
  test('is refused with the first difference and the nearest recorded call, and so is every later one', async () => {
    using tape = createTapeFolder();
    await tape.run({}, smallRun);
    await tape.run({ mode: 'replay' }, async ({ session, runtime, workspace }) => {
      assert.equal((await write(session, 'a/b.txt')).ok, true);
      const differing = await session.call('file_read', { path: 'a/c.txt' });
      const [error] = differing.errors;
      assert.equal(error?.code, 'E_POLICY');
      assert.match(error?.message ?? '', /call 2 \(file_read\), args\.path: recorded "a\/b\.txt", now "a\/c\.txt"/);
      assert.deepEqual(error?.details?.['expected'], { call: 2, line: 3, session: 1, tool: 'file_read' });
      assert.deepEqual(error?.details?.['nearest'], { call: 2, line: 3, tool: 'file_read', differs_in: 'args.path' });
      const later = await session.call('file_read', { path: 'a/b.txt' });
      assert.equal(later.errors[0]?.message, error?.message);
      assert.equal(runtime.cassette()?.failure?.message, error?.message);
      assert.deepEqual(readdirSync(workspace), []);
    });
  });

  test('is refused after the last one, and in another order', async () => {
    using tape = createTapeFolder();
    await tape.run({}, smallRun);
    await tape.run({ mode: 'replay' }, async (run) => {
      await smallRun(run);
      const more = await write(run.session, 'a/b.txt');
      assert.match(
        more.errors[0]?.message ?? '',
        /session 1 has 3 recorded calls, and this is another one: file_write/,
      );
    });
    await tape.run({ mode: 'replay' }, async ({ session }) => {
      const early = await session.call('file_read', { path: 'a/b.txt' });
      assert.match(
        early.errors[0]?.message ?? '',
        /call 1 \(file_write\), tool: recorded "file_write", now "file_read"/,
      );
      const { nearest } = (early.errors[0]?.details ?? {}) as { nearest?: { call: number; differs_in: string } };
      assert.deepEqual([nearest?.call, nearest?.differs_in], [2, 'nothing but the order']);
    });
  });

  test('is one that a gate refuses now and answered when it was recorded', async () => {
    using tape = createTapeFolder();
    await tape.run({}, smallRun);
    const registry = { file: 'r.yaml', text: 'version: 1\nside_effect_level: read_only\n' };
    await tape.run(
      { mode: 'replay' },
      async ({ session }) => {
        const refused = await write(session, 'a/b.txt');
        assert.notEqual(reasonOf(refused), 'cassette_differs');
        assert.equal(refused.ok, false);
        const later = await session.call('file_read', { path: 'a/b.txt' });
        assert.match(later.errors[0]?.message ?? '', /call 1 \(file_write\), it was answered .* refused now/);
      },
      { registry },
    );
  });
});

describe('a rule that starts a program', () => {
  test('starts no program in replay: its call is refused', async () => {
    using tape = createTapeFolder();
    let started = 0;
    const asksGit = defineRule({
      id: 'acme.asks.git',
      category: 'Git',
      description: 'Asks git before a write',
      phase: 'before',
      trigger: 'before a write',
      defaultEnforcement: 'blocking',
      appliesTo: ({ tool }) => tool === 'file_write',
      async check(_subject, { git, signal }) {
        await git.run({ words: ['--version'], access: 'read', signal }).catch(() => undefined);
        started += 1;
        return [];
      },
    });
    const options = {
      rules: [asksGit],
      registry: { file: 'r', text: 'version: 1\nvalidators: [{ rule: acme.asks.git }]\n' },
    };
    const live = await tape.run({}, ({ session }) => write(session, 'a.txt'), options);
    assert.deepEqual([live.ok, started], [true, 1]);
    await tape.run(
      { mode: 'replay' },
      async ({ session }) => {
        const { ok, errors } = await write(session, 'a.txt');
        assert.deepEqual([ok, started], [false, 1], JSON.stringify(errors));
      },
      options,
    );
  });
});

describe('replay-or-record', () => {
  test('records what comes after the last call and applies what came before', async () => {
    using tape = createTapeFolder();
    await tape.run({ mode: 'replay-or-record' }, ({ session }) => write(session, 'a.txt'));
    const first = tape.read();
    await tape.run({ mode: 'replay-or-record' }, async ({ session, runtime }) => {
      assert.equal((await write(session, 'a.txt')).ok, true);
      const read = await session.call('file_read', { path: 'a.txt' });
      assert.equal((read.data as { content: string }).content, 'one\n');
      const { replayed, recorded } = runtime.cassette() ?? {};
      assert.deepEqual([replayed, recorded], [1, 1]);
    });
    assert.ok(tape.read().startsWith(first));
    assert.equal(tape.lines().length, 3);
    await tape.run({ mode: 'replay' }, async ({ session }) => {
      await write(session, 'a.txt');
      assert.equal((await session.call('file_read', { path: 'a.txt' })).ok, true);
    });
  });

  test('refuses a call that differs in the middle, and adds nothing', async () => {
    using tape = createTapeFolder();
    await tape.run({}, smallRun);
    const before = tape.read();
    await tape.run({ mode: 'replay-or-record' }, async ({ session, workspace }) => {
      const other = await write(session, 'other.txt');
      assert.equal(reasonOf(other), 'cassette_differs');
      assert.equal(existsSync(join(workspace, 'other.txt')), false);
    });
    assert.equal(tape.read(), before);
  });
});

describe('secrets', () => {
  const SECRET = 'correct-horse-battery-staple';
  const TOKEN = ['ghp', 'x7Kq2Lm9Vt4Rw8Zs1Yb6Nc3Pd5Hf0Jg2Ae4U'].join('_');

  test('are in no cassette: known ones, those of arguments, and what looks like one', async () => {
    using tape = createTapeFolder();
    const calls = async ({ session }: TapedRun) => [
      await session.call('file_read', { path: 'known.txt' }),
      await session.call('file_read', { path: 'token.txt' }),
      await session.call('curl', { url: `https://me:${SECRET}-2@example.test/`, method: 'GET' } as never),
      await write(session, 'out.txt', `key ${TOKEN}\n`),
    ];
    const files = { 'known.txt': `a ${SECRET} b\n`, 'token.txt': `t ${TOKEN}\n` };
    const live = await tape.run({}, calls, { secrets: [SECRET], files });
    assert.deepEqual(live[1]?.data, { ...(live[1]?.data as object), content: files['token.txt'] });
    const text = tape.read();
    for (const secret of [SECRET, TOKEN]) assert.equal(text.includes(secret), false, secret);
    assert.match(text, /a \[redacted\] b/);
    // Another value in the same place is the same call.
    const replayed = await tape.run({ mode: 'replay' }, calls);
    assert.deepEqual(
      replayed.map(({ ok }) => ok),
      live.map(({ ok }) => ok),
    );
  });
});

const KEPT_TOOL = {
  ...{
    name: 'x',
    category: 'x',
    title: 'x',
    summary: 'x',
    args: {},
    effect: 'read',
    risk: 'low',
    asks: false,
    large: false,
  },
  timeout_ms: 1,
  annotations: {
    kind: 'read',
    side_effect_level: 'none',
    path_params: [],
    set_params: [],
    url_params: [],
    capabilities: {},
  },
};

describe('a cassette that was edited by hand', () => {
  const edited = (tape: TapeFolder, line: number, change: (call: Record<string, unknown>) => unknown) => {
    const lines = tape.read().split('\n');
    lines[line - 1] = JSON.stringify(change(JSON.parse(lines[line - 1] ?? '') as Record<string, unknown>));
    tape.write(lines.join('\n'));
  };
  const opening = (tape: TapeFolder) => tape.run({ mode: 'replay' }, async () => {});

  test('is honoured in its answers, events and files', async () => {
    using tape = createTapeFolder();
    await tape.run({}, smallRun);
    edited(tape, 2, (call) => ({
      ...call,
      events: [{ pct: 5, message: 'added' }],
      files: [{ path: 'b.txt', file: { text: 'by hand\n' }, mode: '600' }],
    }));
    edited(tape, 3, (call) => ({
      ...call,
      answer: { ok: false, data: null, errors: [{ code: 'E_FILE_IO', message: 'Disk is on fire' }], warnings: [] },
    }));
    await tape.run({ mode: 'replay', applyFiles: true }, async (run) => {
      const [, read] = await smallRun(run);
      assert.deepEqual(read && said(read).errors, [{ code: 'E_FILE_IO', message: 'Disk is on fire' }]);
      assert.equal(readFileSync(join(run.workspace, 'b.txt'), 'utf8'), 'by hand\n');
    });
  });

  const refusals: readonly (readonly [string, number, (call: Record<string, unknown>) => unknown, RegExp])[] = [
    ['arguments', 3, (call) => ({ ...call, args: { path: 'x' } }), /tape\.jsonl:3: sum: does not fit/],
    ['the tool', 3, (call) => ({ ...call, tool: 'fs_stat' }), /:3: sum: does not fit/],
    ['the session', 3, (call) => ({ ...call, session: 2 }), /:3: sum: does not fit/],
    ['the number', 3, (call) => ({ ...call, call: 7 }), /:3: call: expected 2, found 7/],
    ['an unknown key', 2, (call) => ({ ...call, note: 'x' }), /:2: .*note/],
    [
      'an unknown key of an answer',
      2,
      (call) => ({ ...call, answer: { ...(call['answer'] as object), x: 1 } }),
      /:2: .*x/,
    ],
    [
      'an unknown code',
      2,
      (call) => ({
        ...call,
        answer: { ok: false, data: null, errors: [{ code: 'E_NEW', message: '' }], warnings: [] },
      }),
      /:2: answer\.errors/,
    ],
    [
      'a tool in place of another',
      1,
      (head) => ({ ...head, tools: [{ ...KEPT_TOOL, name: 'file_write' }] }),
      /:1: tool is there already: file_write/,
    ],
    ['a bad name of a tool', 1, (head) => ({ ...head, tools: [{ ...KEPT_TOOL, name: 'a b' }] }), /:1: tools/],
    ['an unknown version', 1, (head) => ({ ...head, cassette: 2 }), /:1: cassette/],
    ['a path that leaves', 2, (call) => ({ ...call, files: [{ path: '../x', absent: true }] }), /:2: files/],
    ['an absolute path', 2, (call) => ({ ...call, files: [{ path: '/etc/x', absent: true }] }), /:2: files/],
  ];
  for (const [what, line, change, expected] of refusals) {
    test(`is refused with its line for ${what}`, async () => {
      using tape = createTapeFolder();
      await tape.run({}, smallRun);
      await opening(tape);
      edited(tape, line, change);
      await assert.rejects(opening(tape), expected);
    });
  }

  test('is refused for a line that is gone, doubled keys and __proto__, and honoured up to a cut-off end', async () => {
    using tape = createTapeFolder();
    await tape.run({}, smallRun);
    const text = tape.read();
    const lines = text.split('\n');
    tape.write(lines.toSpliced(1, 1).join('\n'));
    await assert.rejects(opening(tape), /:2: call: expected 1, found 2/);
    tape.write(text.replace('{"call":2,', '{"call":2,"call":2,'));
    await assert.rejects(opening(tape), /:3: Duplicate key in JSON/);
    tape.write(text.replace('"answer":{', '"answer":{"__proto__":{},'));
    await assert.rejects(opening(tape), /:2: .*__proto__/);
    tape.write(text.slice(0, -30));
    await tape.run({ mode: 'replay' }, async ({ runtime }) => assert.equal(runtime.cassette()?.left, 2));
    tape.write(lines.slice(0, 2).join('\n'));
    await tape.run({ mode: 'replay' }, async ({ runtime }) => assert.equal(runtime.cassette()?.left, 1));
  });
});

describe('hostile cassettes', () => {
  const withFiles = async (tape: TapeFolder, files: readonly object[], use: (run: TapedRun) => Promise<void>) => {
    await tape.run({}, smallRun);
    const [head = '', first = '', ...more] = tape.read().split('\n');
    tape.write([head, JSON.stringify({ ...(JSON.parse(first) as object), files }), ...more].join('\n'));
    await tape.run({ mode: 'replay', applyFiles: true }, use);
  };
  const content = { file: { text: 'x' }, mode: '644' };

  test('write neither through links, nor to governing files, nor links that lead out; a plain file passes', async () => {
    for (const [files, ok] of [
      [[{ path: 'link/x', ...content }], false],
      [[{ path: '.git/config', ...content }], false],
      [[{ path: 'tool-runtime.yaml', ...content }], false],
      [[{ path: 'l', link: '/etc/passwd' }], false],
      [[{ path: 'l', link: '../../x' }], false],
      [[{ path: 'l', link: 'x' }], true],
      [[{ path: 'new/x', ...content }], true],
      [[{ path: 'x', file: { left_out: 'not_kept' }, mode: '644' }], false],
    ] as const) {
      using tape = createTapeFolder();
      await withFiles(tape, files, async ({ session, workspace }) => {
        symlinkSync('/tmp', join(workspace, 'link'));
        const { ok: written, errors } = await write(session, 'a/b.txt');
        assert.equal(written, ok, JSON.stringify([files, errors]));
      });
    }
  });

  test('cannot have a call that only reads change files', async () => {
    using tape = createTapeFolder();
    await tape.run({}, smallRun);
    const [head = '', first = '', second = ''] = tape.read().split('\n');
    const hostile = JSON.stringify({ ...(JSON.parse(second) as object), files: [{ path: 'x', ...content }] });
    tape.write([head, first, hostile].join('\n'));
    await tape.run({ mode: 'replay', applyFiles: true }, async ({ session, workspace }) => {
      await write(session, 'a/b.txt');
      const read = await session.call('file_read', { path: 'a/b.txt' });
      assert.match(read.errors[0]?.message ?? '', /may only read/);
      assert.deepEqual(readdirSync(workspace), ['a']);
    });
  });

  test('are refused as links, folders, other files and when they are missing', async () => {
    using tape = createTapeFolder();
    const open = (mode: 'record' | 'replay', name: string) => tape.run({ mode, file: tape.file(name) }, async () => {});
    await assert.rejects(open('replay', 'none.jsonl'), /no cassette to replay/);
    tape.write('{"name":"app"}\n', 'package.json');
    await assert.rejects(open('record', 'package.json'), /not a cassette and will not be overwritten/);
    await assert.rejects(open('replay', 'package.json'), /package\.json:1: /);
    assert.equal(tape.read('package.json'), '{"name":"app"}\n');
    symlinkSync(tape.file('package.json'), tape.file('link.jsonl'));
    for (const mode of ['record', 'replay'] as const) await assert.rejects(open(mode, 'link.jsonl'), /it is a link/);
    await assert.rejects(open('record', '.'), (thrown) => isToolError(thrown) && thrown.code === 'E_FILE_IO');
    await open('record', 'new.jsonl');
    await open('replay', 'new.jsonl');
  });

  test('in the workspace cannot be changed by tools', async () => {
    using tape = createTapeFolder();
    await tape.run({}, async ({ workspace, state }) => {
      const file = join(workspace, 'own.jsonl');
      const runtime = await createRuntime({ workspace, state: `${state}-2`, cassette: { mode: 'record', file } });
      const session = await runtime.openSession();
      const refused = await write(session, 'own.jsonl', '{}');
      const passed = await write(session, 'other.jsonl', '{}');
      await runtime.close();
      assert.deepEqual([refused.ok, passed.ok], [false, true]);
      assert.match(readFileSync(file, 'utf8'), /^\{"cassette":1/);
    });
  });
});
