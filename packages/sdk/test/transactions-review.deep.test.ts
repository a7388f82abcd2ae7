/** Transactions under calls at the same time, rules that look at arguments, and a commit that cannot say how it ended. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import type { JournalRecord } from '../src/contracts/journal.ts';
import { defineRule } from '../src/contracts/rule.ts';
import { openJournal } from '../src/journal/store/journal-sqlite.ts';
import { openStateFolder } from '../src/platform/state/state-folder.ts';
import { transactionScene } from './transaction-scene.ts';

describe('transactions of one session', () => {
  test('are no more than allowed, also when they begin at the same time', async (t) => {
    const { ask, done } = await transactionScene(t);
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask('tx_begin')));
    const refusals = answers.flatMap(({ errors }) => errors.map(({ details }) => details?.['reason']));
    assert.deepEqual(refusals, Array(4).fill('too_many_transactions'));
    await done('tx_abort');
    await done('tx_begin');
  });

  test('are judged by the arguments of every call, not of the last one of a tool', async (t) => {
    const rule = defineRule({
      id: 'test.no.drafts',
      category: 'Test',
      description: 'Drafts stay away',
      phase: 'after',
      trigger: 'every call that names a draft',
      defaultEnforcement: 'blocking',
      errorCode: 'E_VALIDATION_FAIL',
      appliesTo: ({ paths }) => paths.some(({ value }) => value.startsWith('drafts/')),
      check: () => [{ message: 'A draft was written', next: 'write elsewhere' }],
    });
    const { done, refused } = await transactionScene(t, {
      rules: [rule],
      registry: 'validators: [{ rule: test.no.drafts }]\n',
    });
    await done('tx_begin');
    await done('file_write', { path: 'drafts/one', content: '1\n', create_dirs: true });
    await done('file_write', { path: 'two', content: '2\n' });
    const error = await refused('tx_commit');
    assert.match(String(error['message']), /draft/);
    await done('tx_abort');
    await done('tx_begin');
    await done('file_write', { path: 'two', content: '2\n' });
    await done('tx_commit');
  });
});

/** The journal of a runtime, which fails once for the result of `tool`. */
async function journalFailingAt(t: TestContext, tool: string) {
  const folder = mkdtempSync(join(tmpdir(), 'failing-journal-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const journal = await openJournal(openStateFolder(folder));
  let isArmed = true;
  const fail = (records: readonly JournalRecord[]): void => {
    if (!isArmed || !records.some((record) => record.kind === 'result' && record.tool === tool)) return;
    isArmed = false;
    throw new ToolError('E_INTERNAL', 'The disk is full');
  };
  return new Proxy(journal, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]) => {
        if (name === 'append') fail(given[0] as readonly JournalRecord[]);
        return value.apply(target, given);
      };
    },
  });
}

describe('an atomic batch whose commit fails', () => {
  test('says that its changes are real when they are', async (t) => {
    const { session, text } = await transactionScene(t, { ports: { journal: await journalFailingAt(t, 'tx_commit') } });
    const calls = ['one', 'two'].map((path) => ({ tool: 'file_write', args: { path, content: `${path}\n` } }));
    const answers = await session.batch(calls, { atomic: true });
    assert.deepEqual([text('one'), text('two')], ['one\n', 'two\n']);
    for (const { ok, errors, warnings } of answers) {
      const said = JSON.stringify([...errors, ...warnings]);
      assert.ok(ok || /not known/.test(said), said);
      assert.doesNotMatch(said, /taken back|was not committed/);
    }
  });
});
