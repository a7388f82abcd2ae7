import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const RUNTIME = join(import.meta.dirname, '../runtime.ts');

function openUnder(engine: 'bun' | 'deno' | undefined, folder: string) {
  const fake = engine === undefined ? '' : `Object.defineProperty(process.versions, '${engine}', { value: '9.9' });`;
  const program = `${fake}
    const { createRuntime } = await import(${JSON.stringify(RUNTIME)});
    const runtime = await createRuntime({ workspace: ${JSON.stringify(folder)}, state: ${JSON.stringify(`${folder}-state`)} });
    await runtime.close();`;
  const args = ['-C', 'tool-runtime-source', '--input-type=module', '-e', program];
  return spawnSync(process.execPath, args, { encoding: 'utf8' });
}

test('Bun and Deno are refused by name with what to do, and Node runs', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'));
  t.after(() => {
    rmSync(folder, { recursive: true, force: true });
    rmSync(`${folder}-state`, { recursive: true, force: true });
  });
  for (const engine of ['bun', 'deno'] as const) {
    const refused = openUnder(engine, folder);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, new RegExp(`The runtime needs Node, and this is ${engine} 9[.]9`, 'i'));
    assert.match(refused.stderr, /tool-runtime serve/);
  }
  const node = openUnder(undefined, folder);
  assert.equal(node.status, 0, node.stderr);
});
