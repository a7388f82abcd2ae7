/** `session.call` is typed by the tool's name; the lines that must not compile are checked by the compiler. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { defineTool } from '@tool-runtime/sdk';
import { z } from 'zod';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';

const wordCount = defineTool({
  name: 'word_count',
  category: 'text',
  title: 'Count words',
  summary: 'Count the words of a text',
  args: z.strictObject({ text: z.string(), least: z.int().optional() }),
  data: z.strictObject({ words: z.int() }),
  annotations: { kind: 'think', side_effect_level: 'none' },
  effect: 'read',
  risk: 'low',
  timeoutMs: 60_000,
  run: ({ text }) => ({ words: text.split(/\s+/).length }),
});

declare module '@tool-runtime/sdk' {
  interface ToolTypes {
    readonly word_count: typeof wordCount;
  }
}

test('arguments and data of a built-in tool are typed by its name', async () => {
  const { session, workspace, dispose } = await openScratchRuntime();
  try {
    writeFileSync(join(workspace, 'a.txt'), 'A');
    const answer = await session.call('file_read', { path: 'a.txt' });
    assert.ok(answer.ok);
    const content: string = answer.data.content;
    assert.equal(content, 'A');
    // @ts-expect-error A file has no such field.
    assert.equal(answer.data.contents, undefined);
    // @ts-expect-error `path` is missing.
    assert.equal((await session.call('file_read', {})).ok, false);
    // @ts-expect-error The tool has no such argument.
    assert.equal((await session.call('file_read', { path: 'a.txt', pth: 'a.txt' })).ok, false);
    const unchecked = await session.call('file_read', { path: 'a.txt' });
    // @ts-expect-error A call may have failed: ask for `ok` first.
    assert.equal(unchecked.data.content, 'A');
  } finally {
    await dispose();
  }
});

test('a tool of the program joins the map, and an unknown name takes anything', async () => {
  const { session, dispose } = await openScratchRuntime({ tools: [wordCount] });
  try {
    const answer = await session.call('word_count', { text: 'one two' });
    assert.ok(answer.ok, JSON.stringify(answer.errors));
    const words: number = answer.data.words;
    assert.equal(words, 2);
    // @ts-expect-error A text is expected.
    assert.equal((await session.call('word_count', { text: 7 })).ok, false);
    const name: string = 'word_count';
    assert.deepEqual((await session.call(name, { text: 'one' })).data, { words: 1 });
    assert.equal((await session.call('no_such_tool', { anything: 1 })).ok, false);
  } finally {
    await dispose();
  }
});
