import assert from 'node:assert/strict';
import { test } from 'node:test';
import { presentBlocks } from './present-blocks.ts';

test('content of a foreign server stays what it is', () => {
  const content = [
    { type: 'text', text: 'a cat' },
    { type: 'image', data: 'aGk=', mimeType: 'image/png' },
  ];
  assert.deepEqual(presentBlocks({ content, is_error: false }), { content });
});

for (const data of [
  null,
  1,
  'text',
  [],
  {},
  { content: 'a file' },
  { content: [] },
  { content: ['line'] },
  { content: [{ type: 'rule' }] },
]) {
  test(`leaves ${JSON.stringify(data)} as it is`, () => assert.deepEqual(presentBlocks(data), {}));
}
