import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';
import type { JournalRecord, JournalStore } from '../contracts/journal.ts';
import { type AnyTool, defineTool } from '../contracts/tool.ts';
import { createRecoveryLog } from '../journal/recovery-log.ts';
import { createCounter, nothing } from '../testing/probe-tools.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';

const ALL = ['requested', 'decision', 'intent', 'result'];

interface Scene {
  readonly tools?: readonly AnyTool[];
  /** Stands in for the journal's `append`. */
  append?(records: readonly JournalRecord[], real: JournalStore): ReturnType<JournalStore['append']>;
}

async function openScene(t: TestContext, { tools = [], append }: Scene = {}) {
  /** Kinds of the records of each write. */
  const writes: string[][] = [];
  const scratch = await openScratchRuntime({
    tools,
    ports: {
      wrapParts(parts) {
        const journal: JournalStore = {
          ...parts.journal,
          append(records) {
            if (records[0]?.kind === 'session') return parts.journal.append(records);
            writes.push(records.map(({ kind }) => kind));
            return append?.(records, parts.journal) ?? parts.journal.append(records);
          },
        };
        return { ...parts, journal, recovery: createRecoveryLog(journal) };
      },
    },
  });
  t.after(() => scratch.dispose());
  writeFileSync(join(scratch.workspace, 'a.txt'), 'content');
  const read = () => scratch.session.call('file_read', { path: 'a.txt' });
  const kinds = () => [...scratch.runtime.records()].map(({ kind }) => kind).filter((kind) => kind !== 'session');
  return { ...scratch, writes, read, kinds };
}

/** A tool that reads until the test lets it end. */
function slowReader(more: object = {}) {
  const [started, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const run = async () => {
    started.resolve();
    await end.promise;
    return {};
  };
  const tool = defineTool({ ...nothing, name: 'probe_slow', args: z.strictObject({}), run, ...more });
  return { tool, started: started.promise, end: end.resolve };
}

describe('a call that only reads', () => {
  test('is recorded in one write, in the order of its path [S1-38]', async (t) => {
    const { writes, read, kinds } = await openScene(t);
    assert.equal((await read()).ok, true);
    assert.deepEqual(writes, [ALL]);
    assert.deepEqual(kinds(), ALL);
  });

  test('is not answered before its records are stored [S1-38]', async (t) => {
    const stored = Promise.withResolvers<void>();
    const { read, writes } = await openScene(t, {
      append: (records, real) => stored.promise.then(() => real.append(records)),
    });
    let isAnswered = false;
    const call = read().finally(() => {
      isAnswered = true;
    });
    while (writes.length === 0) await turn();
    for (let turns = 0; turns < 100; turns++) await turn();
    assert.equal(isAnswered, false);
    stored.resolve();
    assert.equal((await call).ok, true);
  });

  test('is refused without its answer when the records cannot be stored, and the next one waits for its intent [S1-37]', async (t) => {
    let isBroken = true;
    const { read, writes, kinds } = await openScene(t, {
      append(records, real) {
        if (isBroken) throw new TypeError('disk full');
        return real.append(records);
      },
    });
    for (const expected of [ALL, ALL.slice(0, 3)]) {
      const from = writes.length;
      const { ok, data, errors } = await read();
      assert.deepEqual([ok, data, errors[0]?.code], [false, null, 'E_INTERNAL']);
      assert.deepEqual(
        writes[from]?.filter((kind) => kind !== 'recovery'),
        expected,
      );
    }
    assert.deepEqual(kinds(), []);
    isBroken = false;
    assert.equal((await read()).ok, true);
    assert.deepEqual(kinds(), ['recovery', 'recovery', ...ALL]);
    const from = writes.length;
    assert.equal((await read()).ok, true);
    assert.deepEqual(writes.slice(from), [ALL]);
  });

  test('a refusal that can be stored says neither that it was allowed nor that it ran', async (t) => {
    const { read, kinds } = await openScene(t, {
      append(records, real) {
        if (records.some(({ kind }) => kind === 'result')) throw new TypeError('disk full');
        return real.append(records);
      },
    });
    assert.equal((await read()).ok, false);
    assert.deepEqual(kinds(), ['requested', 'decision']);
  });

  test('shows in the journal while it runs, once it takes long', async (t) => {
    const slow = slowReader();
    const { session, kinds, writes } = await openScene(t, { tools: [slow.tool] });
    t.after(() => slow.end());
    const call = session.call('probe_slow', {});
    await slow.started;
    assert.deepEqual(writes, []);
    while (kinds().length === 0) await turn();
    assert.deepEqual(kinds(), ALL.slice(0, 3));
    slow.end();
    assert.equal((await call).ok, true);
    assert.deepEqual(kinds(), ALL);
  });

  test('32 at once share one block', async (t) => {
    const { read, state, runtime } = await openScene(t);
    const blocks = () => {
      const database = new DatabaseSync(join(state, 'journal.db'), { readOnly: true });
      const { count } = database.prepare('SELECT count(*) AS count FROM block').get() ?? {};
      database.close();
      return Number(count);
    };
    await read();
    const before = blocks();
    const answers = await Promise.all(Array.from({ length: 32 }, read));
    assert.ok(answers.every(({ ok }) => ok));
    assert.equal(blocks() - before, 1);
    assert.equal(runtime.verify().ok, true);
  });
});

describe('a call that may do more than read', () => {
  const artifacts = { annotations: { ...nothing.annotations, emits_artifacts: true } };
  const others: readonly [string, object][] = [
    ['may keep artifacts', artifacts],
    ['starts programs', { effect: 'process' }],
    ['may write', { annotations: { kind: 'read', side_effect_level: 'workspace_write' } }],
    ['is an edit', { annotations: { kind: 'edit', side_effect_level: 'read_only' } }],
  ];
  for (const [what, more] of others) {
    test(`has its intent stored before it runs: a tool that ${what} [S1-38]`, async (t) => {
      const seen: string[][] = [];
      const { session, kinds, writes } = await openScene(t, {
        tools: [
          defineTool({
            ...nothing,
            ...more,
            run: () => {
              seen.push(kinds());
              return {};
            },
          }),
        ],
      });
      assert.equal((await session.call('probe_nothing', {})).ok, true);
      assert.deepEqual(seen, [ALL.slice(0, 3)]);
      assert.deepEqual(writes, [ALL.slice(0, 3), ['result']]);
    });
  }

  test('does not run while its intent is not stored, and changes nothing when it cannot be [S1-37]', async (t) => {
    const stored = Promise.withResolvers<void>();
    const { tool, runs } = createCounter();
    const { session, workspace } = await openScene(t, {
      tools: [tool],
      append: (records, real) =>
        records.some(({ kind }) => kind === 'intent')
          ? stored.promise.then(() => real.append(records))
          : real.append(records),
    });
    const calls = [session.call('probe_count', {}), session.call('file_write', { path: 'b.txt', content: 'x' })];
    for (let turns = 0; turns < 100; turns++) await turn();
    assert.equal(runs.count, 0);
    assert.throws(() => readFileSync(join(workspace, 'b.txt')));
    stored.resolve();
    assert.deepEqual(
      (await Promise.all(calls)).map(({ ok }) => ok),
      [true, true],
    );
    assert.equal(runs.count, 1);
    assert.equal(readFileSync(join(workspace, 'b.txt'), 'utf8'), 'x');
  });
});
