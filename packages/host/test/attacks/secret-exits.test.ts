/** Secrets in calls to a real host, searched for in everything the host says, logs, measures, exports and keeps. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createScratch, runCli } from '../run-cli.ts';
import { startServe } from '../start-serve.ts';

const REGISTRY = "version: 1\nshell_allow: ['^printenv( |$)', '^echo( |$)', '^false( |$)', '^sleep( |$)']\n";
const PLACES = {
  variable: (secret: string) => ['shell_exec', { cmd: 'printenv API_TOKEN', env: { API_TOKEN: secret } }],
  failing: (secret: string) => ['shell_exec', { cmd: 'false', env: { API_TOKEN: secret } }],
  refused: (secret: string) => ['shell_exec', { cmd: `rm --password ${secret}` }],
  header: (secret: string) => [
    'curl',
    { url: 'https://none.invalid/', headers: { Authorization: `Bearer ${secret}` } },
  ],
  address: (secret: string) => ['curl', { url: `https://name:${secret}@none.invalid/` }],
  job: (secret: string) => [
    'shell_exec',
    { cmd: 'printenv API_TOKEN; sleep 60', env: { API_TOKEN: secret }, yield_after_ms: 0 },
  ],
} as const satisfies Record<string, (secret: string) => readonly [string, object]>;
/** Only the name of an option says that these are secrets, so what the command prints passes as it is. */
const GUESSES = {
  option: (secret: string) => ['shell_exec', { cmd: `echo --token ${secret}` }],
  password: (secret: string) => ['shell_exec', { argv: ['echo', `--password=${secret}`, 'end'] }],
} as const satisfies Record<string, (secret: string) => readonly [string, object]>;

test('no secret of a call leaves a host by an answer, event, log, figure, export or file [S0-13] (deep)', async () => {
  using scratch = createScratch();
  const registry = join(scratch.root, 'ops.yaml');
  writeFileSync(registry, REGISTRY);
  const places = [...Object.keys(PLACES), ...Object.keys(GUESSES)];
  const secrets = new Map(places.map((place, at) => [place, `canary${at}Qx7${'w'.repeat(at)}Zk93Lm`]));
  const said: Record<string, string> = {};
  {
    await using host = await startServe(scratch, '--registry', registry);
    const call = await host.openSession();
    for (const [place, ask] of Object.entries(PLACES)) {
      const [tool, args] = ask(secrets.get(place) ?? '');
      said[`answer ${place}`] = await (await call(tool, args, { idempotency_key: `key-${place}` })).text();
      said[`repeated answer ${place}`] = await (await call(tool, args, { idempotency_key: `key-${place}` })).text();
      said[`mcp ${place}`] = await overMcp(host.url, host.token, tool, args);
    }
    for (const [place, ask] of Object.entries(GUESSES)) {
      const secret = secrets.get(place) ?? '';
      const [tool, args] = ask(secret);
      for (const answer of [await (await call(tool, args)).text(), await overMcp(host.url, host.token, tool, args)]) {
        assert.ok(answer.includes(secret) && !answer.includes('[redacted]'), answer);
      }
    }
    const job = /job-[0-9a-f-]+/.exec(said['answer job'] ?? '')?.[0] ?? '';
    said['job poll'] = await (await call('job_poll', { job, wait_ms: 2_000 })).text();
    said['job list'] = await (await call('job_list', {})).text();
    for (const path of ['/metrics', '/v1/status', '/v1/sessions', '/v1/approvals']) {
      said[path] = await (await host.fetch(path)).text();
    }
    // The twin: what is no secret comes back whole.
    assert.match(await (await call('shell_exec', { cmd: 'echo plain-words' })).text(), /plain-words/);
    for (const exit of ['answer variable', 'mcp variable']) assert.match(said[exit] ?? '', /\[redacted\]/, exit);
    // What is printed before the yield is in the answer, the rest in the poll.
    assert.match(`${said['answer job']}${said['job poll']}`, /\[redacted\]/);
    host.child.kill('SIGTERM');
    await host.ended();
    said['log'] = host.log();
  }
  said['audit export'] = (await runCli(['audit', 'export', ...scratch.options])).stdout;
  said['audit list'] = (await runCli(['audit', 'list', ...scratch.options])).stdout;
  assert.match(said['audit export'], /"tool":"shell_exec"/);
  for (const name of readdirSync(scratch.state, { recursive: true, withFileTypes: true })) {
    if (name.isFile()) said[`file ${name.name}`] = readFileSync(join(name.parentPath, name.name), 'latin1');
  }
  const found = Object.entries(said).flatMap(([exit, text]) =>
    [...secrets]
      .filter(([, secret]) => formsOf(secret).some((form) => text.includes(form)))
      .map(([place]) => `${place} in ${exit}`),
  );
  assert.deepEqual(found, []);
});

function formsOf(secret: string): readonly string[] {
  return [
    secret,
    Buffer.from(secret).toString('base64').replace(/=+$/, ''),
    Buffer.from(`name:${secret}`).toString('base64'),
  ];
}

async function overMcp(url: string, token: string, tool: string, args: object): Promise<string> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  };
  const answer = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': tool,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: tool, arguments: args, _meta: meta },
    }),
  });
  return answer.text();
}
