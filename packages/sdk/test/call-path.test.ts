/**
 * How long the path of a call is: one warm `file_read` through a real session, traced.
 *
 * Counted are our source files with a function that ran (files), and pairs of them where one imports a value of the
 * other (hops). The trace begins at `session.handle`, so the transport is not in it, and it is stricter than counting by
 * reading: a leaf helper counts as much as a stage. Before the path was shortened it was 105 files and 129 hops.
 *
 * A change that makes a call longer has to raise a number here, and say why. One that makes it shorter lowers it.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';
import { type TracedPath, traceFiles } from './traced-files.ts';

const MOST_FILES = 60;
const MOST_HOPS = 85;

test('one read passes a known number of files and hops', async (t) => {
  const { session, workspace, dispose } = await openScratchRuntime();
  t.after(dispose);
  writeFileSync(join(workspace, 'hello.txt'), 'hello\n');
  const read = async (): Promise<void> => {
    const answer = await session.handle({
      type: 'ToolRequest',
      tool: 'file_read',
      args: { path: 'hello.txt' },
      request_id: crypto.randomUUID(),
      session_id: session.id,
      timestamp: 1,
    });
    assert.ok(answer.type === 'ToolResponse' && answer.ok, JSON.stringify(answer));
  };
  for (let call = 0; call < 10; call++) await read();

  // What the runtime does on the side runs during some of them: what all have in common is the call alone.
  const traces: TracedPath[] = [];
  for (let round = 0; round < 8; round++) traces.push(await traceFiles(read));
  const files = inAll(traces.map((trace) => trace.files));
  const hops = inAll(traces.map((trace) => trace.hops));

  assert.ok(files.includes('sdk/src/call/pipeline.ts'), 'the trace sees the path');
  assert.ok(files.includes('sdk/src/tools/fs/file-read.ts'), 'the trace sees the tool');
  assert.ok(files.length <= MOST_FILES, `${files.length} files:\n${files.join('\n')}`);
  assert.ok(hops.length <= MOST_HOPS, `${hops.length} hops:\n${hops.join('\n')}`);
});

function inAll(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = [], ...others] = lists;
  return first.filter((one) => others.every((other) => other.includes(one)));
}
