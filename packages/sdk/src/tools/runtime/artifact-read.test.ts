import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { defineTool } from '../../contracts/tool.ts';
import { openScratchRuntime, type ScratchRuntime } from '../../testing/scratch-runtime.ts';

/** Keeps the numbers 1 to n, one a line, as an artifact. */
const keepNumbers = defineTool({
  name: 'keep_numbers',
  category: 'probe',
  title: 'Keep numbers',
  summary: 'Keeps numbers as an artifact',
  args: z.strictObject({ n: z.int() }),
  data: z.strictObject({ artifact: z.string() }),
  annotations: { kind: 'read', side_effect_level: 'read_only' },
  effect: 'read',
  risk: 'low',
  timeoutMs: 60_000,
  run({ n }, { artifacts }) {
    const writer = artifacts.create();
    for (let line = 1; line <= n; line++) writer.write(Buffer.from(`${line}\n`));
    return { artifact: writer.finish().handle };
  },
});

async function withNumbers(
  n: number,
  use: (scratch: ScratchRuntime, artifact: string) => Promise<void>,
): Promise<void> {
  const scratch = await openScratchRuntime({ tools: [keepNumbers] });
  try {
    const { artifact } = (await scratch.session.call('keep_numbers', { n })).data as { artifact: string };
    await use(scratch, artifact);
  } finally {
    await scratch.dispose();
  }
}

describe('artifact_read [S2-22]', () => {
  test('pages through the whole and says where the next page starts [S2-22]', () =>
    withNumbers(1000, async ({ session }, artifact) => {
      let text = '';
      for (let offset: number | null = 0; offset !== null; ) {
        const page = (await session.call('artifact_read', { artifact, offset, max_bytes: 777 })).data as {
          content: string;
          next_offset: number | null;
        };
        text += page.content;
        offset = page.next_offset;
      }
      assert.equal(text, Array.from({ length: 1000 }, (_, at) => `${at + 1}\n`).join(''));
    }));

  test('gives the last lines, and matching lines with their numbers, up to a limit (deep)', () =>
    withNumbers(200_000, async ({ session }, artifact) => {
      const read = async (args: object) =>
        (await session.call('artifact_read', { artifact, ...args })).data as Record<string, unknown>;
      assert.equal((await read({ tail_lines: 2 }))['content'], '199999\n200000\n');
      const found = await read({ search: '^1999(98|99)$' });
      assert.deepEqual(found['matches'], [
        { line: 199998, text: '199998' },
        { line: 199999, text: '199999' },
      ]);
      const some = await read({ search: '7', max_results: 3 });
      assert.deepEqual([(some['matches'] as unknown[]).length, some['truncated']], [3, true]);
    }));

  test('an unknown handle is E_FILE_IO, a bad pattern E_VALIDATION_FAIL', () =>
    withNumbers(1, async ({ session }, artifact) => {
      const unknown = await session.call('artifact_read', { artifact: 'artifact:../../etc/passwd' });
      assert.equal(unknown.errors[0]?.code, 'E_FILE_IO');
      assert.equal(
        (await session.call('artifact_read', { artifact, search: '(' })).errors[0]?.code,
        'E_VALIDATION_FAIL',
      );
    }));
});
