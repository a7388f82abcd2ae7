/**
 * Starts a host inside this program and connects to it over a WebSocket, as any other program would: calls, events,
 * and an approval given by another client.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startHost } from '@tool-runtime/host';
import { connectToHost, createHostClient } from '@tool-runtime/protocol/client';

const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-host-client-'));
// With an `approvals` section, reads and the listed tools run at once; every other call needs approval.
const registry = 'version: 1\napprovals:\n  auto_approve: [file_write]\n';
const host = await startHost({
  workspaces: [mkdtempSync(join(scratch, 'workspace-'))],
  state: join(scratch, 'state'),
  http: { hostname: '127.0.0.1', port: 0 },
  runtime: { registry: { text: registry, file: 'example registry' } },
});
const { url = '', token = '' } = host;

try {
  // The connection uses the token of its session, which may read and call. It cannot approve its own calls.
  const session = await connectToHost({ url, token, session: { client: { name: 'host-client', version: '1.0' } } });
  const person = createHostClient({ url, token });

  const seen: string[] = [];
  const watching = (async () => {
    // Start at the first event: without `after`, a request sent before we listen would be missed.
    for await (const { event, data, progress } of session.events({ after: 0 })) {
      seen.push(event);
      console.log(`  ${event}: ${progress.message}`);
      if (event === 'ApprovalRequested') {
        const answered = await person.answerApproval(String(data?.['approval_id']), { answer: 'approved' });
        assert.equal(answered.by, 'main');
      }
    }
  })();

  const written = await session.call('file_write', { path: 'note.txt', content: 'short-lived\n' });
  show('file_write', written);
  assert.equal(written.ok, true);

  const escaped = await session.call('file_read', { path: '../../etc/passwd' });
  show('file_read', escaped);
  assert.equal(escaped.errors[0]?.code, 'E_POLICY');

  const deleted = await session.call('fs_delete', { path: 'note.txt' });
  show('fs_delete', deleted);
  assert.equal(deleted.ok, true);

  await session.close();
  await watching;
  assert.deepEqual(seen.slice(0, 3), ['RuleViolation', 'ApprovalRequested', 'ApprovalAnswered']);
} finally {
  await host.stop();
  rmSync(scratch, { recursive: true });
}

function show(tool: string, { ok, errors }: { ok: boolean; errors: readonly { code: string }[] }): void {
  console.log(`${tool} ${ok ? 'ok' : errors[0]?.code}`);
}
