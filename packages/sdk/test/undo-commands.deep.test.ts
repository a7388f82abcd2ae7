/** Undo of what commands changed, with later changes of others in the same file. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { transactionScene } from './transaction-scene.ts';

const LINES = Array.from({ length: 30 }, (_, at) => `line ${at + 1}\n`);
const TEXT = LINES.join('');

describe('an undo of a recorded command', () => {
  test('keeps a later change of other lines, and names it', async (t) => {
    const { put, text, done, ask } = await transactionScene(t, { registry: 'effects: recorded\n' });
    put('a.txt', TEXT);
    const { change_id } = await ask('shell_exec', { cmd: 'echo last >> a.txt' });
    put('a.txt', text('a.txt').replace('line 1\n', 'first\n'));
    assert.deepEqual((await done('change_undo', { change_id }))['merged'], ['a.txt']);
    assert.equal(text('a.txt'), TEXT.replace('line 1\n', 'first\n'));
  });

  test('keeps it also when the command was part of a transaction', async (t) => {
    const { put, text, done, ask } = await transactionScene(t);
    put('a.txt', TEXT);
    await done('tx_begin');
    await done('shell_exec', { cmd: 'echo last >> a.txt' });
    const { change_id } = await ask('tx_commit');
    put('a.txt', text('a.txt').replace('line 1\n', 'first\n'));
    assert.deepEqual((await done('change_undo', { change_id }))['merged'], ['a.txt']);
    assert.equal(text('a.txt'), TEXT.replace('line 1\n', 'first\n'));
  });

  test('names no earlier change set as the one in the way', async (t) => {
    const { put, done, refused, ask } = await transactionScene(t);
    await done('file_write', { path: 'a.txt', content: 'one\n' });
    const { change_id } = await ask('file_write', { path: 'a.txt', content: 'two\n' });
    put('a.txt', 'by hand\n');
    const outside = await refused('change_undo', { change_id });
    assert.deepEqual([outside['reason'], outside['later_change_id']], ['overlap', undefined]);
    assert.match(String(outside['message']), /outside of the tools/);
    const later = await ask('file_write', { path: 'a.txt', content: 'three\n' });
    assert.equal((await refused('change_undo', { change_id }))['later_change_id'], later.change_id);
  });
});
