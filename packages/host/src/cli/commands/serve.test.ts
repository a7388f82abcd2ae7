import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import { createScratch, jsonLines, runCli, type Scratch } from '../../../test/run-cli.ts';
import { startServe } from '../../../test/start-serve.ts';

function writeRegistry(scratch: Scratch, text: string): string {
  const file = join(scratch.root, 'registry.yaml');
  writeFileSync(file, `version: 1\n${text}`);
  return file;
}

const SLEEPING = "shell_allow: ['^sleep ']\napprovals:\n  auto_approve: ['*']\n";

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 20));
}

describe('tool-runtime serve', () => {
  test('serves the workspace with a private token file and socket, and says where (deep)', async () => {
    using scratch = createScratch();
    scratch.write('a', 'text');
    await using host = await startServe(scratch);
    const call = await host.openSession();
    const answer = (await (await call('file_read', { path: 'a' })).json()) as ToolResponse;
    assert.equal(answer.ok, true);
    assert.equal(readFileSync(join(scratch.state, 'host.token'), 'utf8').trim(), host.token);
    assert.equal(statSync(join(scratch.state, 'host.token')).mode & 0o777, 0o600);
    assert.equal(statSync(host.socket).mode & 0o777, 0o600);
    const unauthorised = await fetch(`${host.url}/v1/status`);
    assert.equal(unauthorised.status, 401);
  });

  test('a signal lets running calls end, refuses new ones, and ends with 0 (deep)', async () => {
    using scratch = createScratch();
    await using host = await startServe(scratch, '--registry', writeRegistry(scratch, SLEEPING));
    const call = await host.openSession();
    const running = call('shell_exec', { cmd: 'sleep 1.5' });
    await until(async () => ((await (await host.fetch('/v1/status')).json()) as { in_flight: number }).in_flight === 1);
    host.child.kill('SIGTERM');
    await until(async () => (await fetch(`${host.url}/readyz`)).status === 503);
    assert.equal((await fetch(`${host.url}/healthz`)).status, 200);
    const late = await call('file_read', { path: 'a' });
    assert.equal(late.status, 503);
    const answer = (await (await running).json()) as ToolResponse;
    assert.equal(answer.ok, true, JSON.stringify(answer.errors));
    assert.equal(await host.ended(), 0);
  });

  test('a second signal cancels what still runs, and the journal says so (deep)', async () => {
    using scratch = createScratch();
    await using host = await startServe(scratch, '--registry', writeRegistry(scratch, SLEEPING));
    const call = await host.openSession();
    const running = call('shell_exec', { cmd: 'sleep 60' });
    const recorded = async (wanted: string) =>
      jsonLines((await runCli(['audit', 'export', ...scratch.options])).stdout).filter(({ kind }) => kind === wanted);
    await until(async () => (await recorded('intent')).length === 1);
    host.child.kill('SIGTERM');
    await until(async () => (await fetch(`${host.url}/readyz`)).status === 503);
    host.child.kill('SIGTERM');
    const answer = (await (await running).json()) as ToolResponse;
    assert.equal(answer.ok, false);
    assert.equal(await host.ended(), 0);
    assert.deepEqual(
      (await recorded('result')).map(({ status }) => status),
      ['cancelled'],
    );
  });

  test('a second host on the same state folder is refused; after a kill -9 the next one starts (deep)', async () => {
    using scratch = createScratch();
    await using host = await startServe(scratch);
    const second = await runCli(['serve', '--http', '127.0.0.1:0', ...scratch.options]);
    assert.notEqual(second.code, 0);
    assert.match(second.stderr, /already/);
    host.child.kill('SIGKILL');
    await host.ended();
    await using next = await startServe(scratch);
    assert.equal((await fetch(`${next.url}/readyz`)).status, 200);
  });

  test('serves further folders by name, and no folder the operator did not name', async () => {
    using scratch = createScratch();
    using further = createScratch();
    further.write('only-here', 'yes');
    await using host = await startServe(scratch, '--also', further.workspace);
    const call = await host.openSession({ workspace: further.workspace });
    assert.equal(((await (await call('file_read', { path: 'only-here' })).json()) as ToolResponse).ok, true);
    const refused = await host.fetch('/v1/sessions', { workspace: '/etc' });
    assert.equal(refused.status, 403);
    assert.match(await refused.text(), /workspace_not_allowed/);
  });

  for (const [what, args, complaint] of [
    ['an address that is none', ['--http', 'here'], /--http takes HOST:PORT/],
    ['half a certificate', ['--tls-cert', 'a.pem'], /must be given together/],
    ['to listen beyond the machine in the clear', ['--http', '0.0.0.0:0'], /needs TLS/],
    ['a coordinator that is no address', ['--coordinator', 'somewhere'], /--coordinator/],
  ] as const) {
    test(`refuses ${what}`, async () => {
      using scratch = createScratch();
      const { code, stderr } = await runCli(['serve', ...args, ...scratch.options]);
      assert.ok(code === 1 || code === 2, `ended with ${code}`);
      assert.match(stderr, complaint);
    });
  }

  test('refuses a token file that tools could read', async () => {
    using scratch = createScratch();
    const { code, stderr } = await runCli([
      'serve',
      '--token-file',
      join(scratch.workspace, 'token'),
      ...scratch.options,
    ]);
    assert.equal(code, 2);
    assert.match(stderr, /inside a workspace/);
  });

  test('speaks TLS with a certificate (deep)', async () => {
    using scratch = createScratch();
    const { spawnSync } = await import('node:child_process');
    const [key, cert] = [join(scratch.root, 'key.pem'), join(scratch.root, 'cert.pem')];
    const made = spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'],
      ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1', '-keyout', key, '-out', cert],
    ]);
    assert.equal(made.status, 0, String(made.stderr));
    await using host = await startServe(scratch, '--tls-cert', cert, '--tls-key', key);
    assert.match(host.url, /^https:/);
    const answer = spawnSync('curl', [
      ...['-s', '--cacert', cert, '-H', `Authorization: Bearer ${host.token}`, `${host.url}/v1/status`],
    ]);
    assert.match(String(answer.stdout), /"state":"ready"/);
    const plain = spawnSync('curl', ['-s', `${host.url.replace('https', 'http')}/healthz`]);
    assert.doesNotMatch(String(plain.stdout), /ok/);
  });
});
