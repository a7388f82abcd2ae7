/** A third-party tool in one file. It is checked, run and recorded like the built-in tools. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, defineTool } from '@tool-runtime/sdk';
import { z } from 'zod';

const lineCount = defineTool({
  name: 'line_count',
  category: 'text',
  title: 'Count lines',
  summary: 'Count the lines of a file',
  args: z.strictObject({ path: z.string().describe('File inside the workspace') }),
  data: z.strictObject({ lines: z.int() }),
  // The runtime knows only what is declared: `path` is sandboxed because `path_params` lists it, not because of its name.
  annotations: { kind: 'read', side_effect_level: 'read_only', arg_schema: { path_params: ['path'] } },
  effect: 'read',
  risk: 'low',
  timeoutMs: 5_000,
  async run({ path }, { workspace }) {
    const { bytes } = await workspace.readFile(path);
    return { lines: new TextDecoder().decode(bytes).split('\n').length - 1 };
  },
});

const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-own-tool-'));
const workspace = mkdtempSync(join(scratch, 'workspace-'));
const runtime = await createRuntime({ workspace, state: join(scratch, 'state'), tools: [lineCount] });
const session = await runtime.openSession();

await session.call('file_write', { path: 'poem.txt', content: 'one\ntwo\nthree\n' });
const counted = await session.call('line_count', { path: 'poem.txt' });
console.log(JSON.stringify(counted.data));
assert.deepEqual(counted.data, { lines: 3 });

const escaped = await session.call('line_count', { path: '/etc/passwd' });
console.log(`${escaped.errors[0]?.code}: ${escaped.errors[0]?.message}`);
assert.equal(escaped.errors[0]?.code, 'E_POLICY');

await runtime.close();
rmSync(scratch, { recursive: true });
