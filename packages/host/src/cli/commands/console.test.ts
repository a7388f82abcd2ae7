import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';
import { startServe } from '../../../test/start-serve.ts';

function signIn(url: string, link: string): Promise<Response> {
  const code = link.trim().split('#code=')[1] ?? '';
  const headers = { origin: url, 'content-type': 'application/json' };
  return fetch(`${url}/v1/console/sign-in`, { method: 'POST', headers, body: JSON.stringify({ code }) });
}

describe('tool-runtime console', () => {
  test('prints a link of the running host that signs in once, with the role that was asked for', async () => {
    using scratch = createScratch();
    await using host = await startServe(scratch);
    const { code, stdout } = await runCli(['console', ...scratch.options]);
    assert.equal(code, 0);
    assert.match(stdout, /^http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{32}\n$/);
    const signedIn = await signIn(host.url, stdout);
    assert.equal(((await signedIn.json()) as { role: string }).role, 'approver');
    assert.equal((await signIn(host.url, stdout)).status, 401);
    const viewer = await runCli(['console', '--role', 'viewer', '--json', ...scratch.options]);
    const { url, role } = JSON.parse(viewer.stdout) as { url: string; role: string };
    assert.equal(role, 'viewer');
    assert.equal(((await (await signIn(host.url, url)).json()) as { role: string }).role, 'viewer');
  });

  test('says that no host runs', async () => {
    using scratch = createScratch();
    const { code, stderr } = await runCli(['console', ...scratch.options]);
    assert.equal(code, 1);
    assert.match(stderr, /No host runs/);
  });
});
