import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minimise } from './minimise.ts';

const hasBoth = (input: Buffer): boolean => input.includes('{') && input.includes('}');

test('what is not needed for a failure goes', async () => {
  const input = Buffer.from(`${'x'.repeat(500)}{${'y'.repeat(300)}}z`);
  assert.equal(String(await minimise(input, { fails: hasBoth, tries: 4_000, seconds: 60 })), '{}');
});

test('tries are counted', async () => {
  let tries = 0;
  const fails = (): boolean => {
    tries += 1;
    return false;
  };
  const input = Buffer.alloc(100, 'x');
  assert.ok((await minimise(input, { fails, tries: 10, seconds: 60 })).equals(input));
  assert.equal(tries, 10);
});
