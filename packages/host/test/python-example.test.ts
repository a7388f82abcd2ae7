import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openHost, TOKENS } from './open-host.ts';

const EXAMPLES = join(import.meta.dirname, '../../../examples/python');

async function python(folder: string, script: string, args: readonly string[]): Promise<string> {
  const child = spawn('python3', [join(folder, script), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const code = await new Promise((resolve) => child.on('close', resolve));
  assert.equal(code, 0, Buffer.concat(errors).toString());
  return Buffer.concat(chunks).toString();
}

test('a Python client generated from the OpenAPI document calls tools over plain HTTP', async (t) => {
  await using host = await openHost();
  const folder = mkdtempSync(join(tmpdir(), 'python-example-'));
  t.after(() => rmSync(folder, { recursive: true }));
  cpSync(EXAMPLES, folder, { recursive: true });
  const place = [host.url, TOKENS.operator];
  const source = await python(folder, 'generate_client.py', place);
  assert.match(source, /def file_read\(self, \*, path: 'Union\[str, List\[str\]\]', /);
  assert.match(source, /FileReadData = TypedDict\('FileReadData', \{'content': /);
  writeFileSync(join(folder, 'my_tools.py'), source);
  assert.equal(await python(folder, 'use_client.py', place), 'hello from Python\nE_POLICY not_retryable\n');
  assert.equal(readFileSync(join(host.workspace, 'from-python.txt'), 'utf8'), 'hello from Python\n');
});
