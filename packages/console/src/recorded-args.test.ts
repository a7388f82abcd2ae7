import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readSummary } from './recorded-args.ts';

describe('readSummary', () => {
  test('reads back what the record has in full', () => {
    assert.deepEqual(readSummary('path="src/a b.ts" max_bytes=1048576 recursive=false end=null note="say \\"x=1\\""'), {
      args: { path: 'src/a b.ts', max_bytes: 1_048_576, recursive: false, end: null, note: 'say "x=1"' },
      isWhole: true,
    });
    assert.deepEqual(readSummary(''), { args: {}, isWhole: true });
  });

  test('marks what is only counted, masked or cut', () => {
    const { args, isWhole } = readSummary('path="a" content=<63 bytes> edits=[2 items] cmd="very long…"');
    assert.equal(isWhole, false);
    assert.deepEqual(args, {
      path: 'a',
      content: 'FILL IN: <63 bytes>',
      edits: 'FILL IN: [2 items]',
      cmd: 'FILL IN: "very long…"',
    });
    assert.deepEqual(readSummary('cmd="ls" env=<2 bytes> stdin=<4 bytes>'), { args: { cmd: 'ls' }, isWhole: false });
    assert.equal(readSummary('path="src/…').isWhole, false);
    assert.equal(readSummary('(not valid)').isWhole, false);
  });
});
