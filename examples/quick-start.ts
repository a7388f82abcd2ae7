/**
 * The quick start of the README: a temporary workspace, a write, a read, a refused read outside the workspace, and the
 * verified journal.
 *
 * Exits non-zero if a result is wrong, so that CI can run it as a test.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime } from '@tool-runtime/sdk';

const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-quick-start-'));
const workspace = mkdtempSync(join(scratch, 'workspace-'));
const runtime = await createRuntime({ workspace, state: join(scratch, 'state') });

try {
  const session = await runtime.openSession({ actor: 'you', client: 'quick-start' });

  const written = await session.call('file_write', { path: 'notes/hello.txt', content: 'Hello, tools\n' });
  show('file_write notes/hello.txt', written);
  assert.equal(written.ok, true);

  const read = await session.call('file_read', { path: 'notes/hello.txt' });
  show('file_read notes/hello.txt', read);
  assert.equal((read.data as { content: string }).content, 'Hello, tools\n');

  const escaped = await session.call('file_read', { path: '../../etc/passwd' });
  show('file_read ../../etc/passwd', escaped);
  assert.equal(escaped.errors[0]?.code, 'E_POLICY');

  console.log('\njournal');
  for (const record of runtime.records()) {
    const { seq, kind } = record;
    const gist = 'tool' in record ? record.tool : 'outcome' in record ? `${record.outcome} by ${record.gate}` : '';
    console.log(`  ${seq} ${kind} ${gist}`);
  }
  const report = runtime.verify();
  console.log(`  verified: ${report.ok}, ${report.records} records, head ${report.head.mac.slice(0, 16)}…`);
  assert.equal(report.ok, true);
} finally {
  await runtime.close();
  rmSync(scratch, { recursive: true });
}

function show(title: string, response: { ok: boolean; data: unknown; errors: readonly unknown[] }): void {
  const { ok, data, errors } = response;
  console.log(`\n${title}\n  ${JSON.stringify(ok ? { ok, data } : { ok, errors })}`);
}
