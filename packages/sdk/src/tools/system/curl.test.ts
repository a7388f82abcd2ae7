import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { startWeb } from '../../../test/loopback-server.ts';
import { isReadOnlyKind } from '../../contracts/annotations.ts';
import type { HttpAnswer, HttpRequest } from '../../contracts/http.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import { createHttpClient } from '../../platform/network/http-client.ts';
import { createArtifactFiles } from '../../platform/state/artifact-files.ts';
import { createRedactor } from '../../redaction/redactor.ts';
import { defaultRegistry } from '../../registry/build-registry.ts';
import type { RuntimeOptions } from '../../runtime.ts';
import { openScratchRuntime } from '../../testing/scratch-runtime.ts';
import { curl } from './curl.ts';

async function scene(t: TestContext, domains: readonly string[], options: Partial<RuntimeOptions> = {}, more = '') {
  const text = `version: 1\nnetwork: {allowed_domains: ${JSON.stringify(domains)}}\n${more}`;
  const scratch = await openScratchRuntime({ registry: { file: 'r.yaml', text }, ...options });
  t.after(() => scratch.dispose());
  return scratch;
}

const answer: HttpAnswer = {
  status: 200,
  headers: {},
  body: Buffer.from('x'),
  truncated: false,
  url: 'u',
  redirects: [],
};

/** Runs the tool alone, with a client that gives back a fixed answer and keeps what it was asked. */
async function runAlone(args: Record<string, unknown>, given: Partial<HttpAnswer> = {}) {
  const sent: HttpRequest[] = [];
  const http = {
    send: async (request: HttpRequest) => {
      sent.push(request);
      return { ...answer, ...given };
    },
  };
  const redactOutput = () => createRedactor().known.stream();
  const context = { http, redactOutput, signal: new AbortController().signal } as unknown as ToolContext;
  const data = curl.data.parse(await curl.run(curl.args.parse(args), context));
  return { data, sent: sent[0] };
}

describe('curl [S0-39]', () => {
  test('sends an artifact as the body, whole or not at all [S0-39]', async (t) => {
    const got: Buffer[] = [];
    const server = await startWeb(t, async (request, response) => {
      for await (const chunk of request) got.push(chunk as Buffer);
      response.end('thanks');
    });
    const { session, state } = await scene(t, [`127.0.0.1:${server.port}`]);
    const writer = createArtifactFiles(state).create();
    writer.write(Buffer.from('from an artifact'));
    const { handle } = writer.finish();
    const url = `http://127.0.0.1:${server.port}/`;
    const sent = await session.call('curl', { method: 'POST', url, body_artifact: handle });
    assert.equal(sent.ok, true, JSON.stringify(sent.errors));
    assert.equal(Buffer.concat(got).toString(), 'from an artifact');
    const both = await session.call('curl', { method: 'POST', url, body: 'x', body_artifact: handle });
    assert.equal(both.errors[0]?.code, 'E_VALIDATION_FAIL');
    const unknown = await session.call('curl', { method: 'POST', url, body_artifact: 'artifact:none' });
    assert.equal(unknown.errors[0]?.code, 'E_FILE_IO');
  });

  test('answers status, headers, body in base64 and whether it was cut [S0-39]', async (t) => {
    const server = await startWeb(t, (_request, response) => response.writeHead(404, { 'X-A': 'b' }).end('gone'));
    const { session } = await scene(t, [`127.0.0.1:${server.port}`]);
    const url = `http://127.0.0.1:${server.port}/x`;
    const response = await session.call('curl', { url });
    assert.equal(response.ok, true);
    const { status, headers, ...rest } = response.data as { status: number; headers: Record<string, string> };
    assert.deepEqual([status, headers['x-a']], [404, 'b']);
    assert.deepEqual(rest, { body_b64: btoa('gone'), truncated: false, url, redirects: [] });
    const cut = await session.call('curl', { url, max_bytes: 2, as_text: true });
    assert.deepEqual(
      [(cut.data as { text: string }).text, (cut.data as { truncated: boolean }).truncated],
      ['go', true],
    );
  });

  test('has the defaults of its contract [S0-39]', () => {
    assert.deepEqual(curl.args.parse({ url: 'u' }), {
      method: 'GET',
      url: 'u',
      headers: {},
      body: null,
      max_bytes: 5_242_880,
      as_text: false,
    });
    assert.deepEqual([curl.timeoutMs, curl.maxTimeoutMs, curl.timeoutArg], [15_000, 120_000, 'timeout_ms']);
    assert.ok(curl.args.safeParse({ url: 'u', timeout_ms: 120_000 }).success);
    for (const bad of [
      { timeout_ms: 120_001 },
      { timeout_ms: 0 },
      { max_bytes: -1 },
      { headers: { a: 1 } },
      { body_b64: '*' },
    ]) {
      assert.ok(!curl.args.safeParse({ url: 'u', ...bad }).success, JSON.stringify(bad));
    }
  });

  test('sends text or bytes, and not both [S0-39]', async () => {
    assert.equal(String((await runAlone({ url: 'u', method: 'POST', body: 'é' })).sent?.body), 'é');
    assert.deepEqual([...((await runAlone({ url: 'u', body_b64: '/w==' })).sent?.body ?? [])], [255]);
    assert.equal((await runAlone({ url: 'u', body: '' })).sent?.body?.byteLength, 0);
    assert.equal((await runAlone({ url: 'u' })).sent?.body, null);
    await assert.rejects(runAlone({ url: 'u', body: '', body_b64: '' }), { code: 'E_VALIDATION_FAIL' });
  });

  test('gives text only when asked and when the bytes are text; a cut character is left out [S0-39]', async () => {
    const text = async (body: number[], truncated: boolean, as_text = true) =>
      (await runAlone({ url: 'u', as_text }, { body: Uint8Array.from(body), truncated })).data.text;
    assert.equal(await text([0xc3, 0xa9], false), 'é');
    assert.equal(await text([0xc3, 0xa9], false, false), undefined);
    assert.equal(await text([0x61, 0xc3], true), 'a');
    assert.equal(await text([0x61, 0xc3], false), undefined);
    assert.equal(await text([0xff], true), undefined);
    assert.equal(await text([0xef, 0xbb, 0xbf, 0x61], false), '\ufeffa');
  });

  test('finding 12: only GET and HEAD without a body count as reading', () => {
    const kind = (args: object) =>
      curl.profile?.(curl.args.parse({ url: 'u', ...args }), defaultRegistry()).kind ?? curl.annotations?.kind;
    for (const args of [{}, { method: 'get' }, { method: 'HEAD' }]) assert.equal(kind(args), 'fetch');
    for (const args of [
      { method: 'POST' },
      { method: 'DELETE' },
      { method: 'OPTIONS' },
      { body: '' },
      { body_b64: '' },
    ]) {
      assert.equal(kind(args), 'execute', JSON.stringify(args));
    }
    assert.ok(isReadOnlyKind('fetch') && !isReadOnlyKind('execute'));
    assert.deepEqual([curl.annotations?.side_effect_level, curl.effect, curl.risk], ['network', 'network', 'high']);
  });
});

describe('curl behind the gates [S0-61]', () => {
  test('is not there under the safe defaults, and says why [S0-18]', async (t) => {
    const scratch = await openScratchRuntime();
    t.after(() => scratch.dispose());
    const response = await scratch.session.call('curl', { url: 'https://crates.io/' });
    assert.deepEqual([response.ok, response.errors[0]?.code], [false, 'E_POLICY']);
  });

  test('section 6.2 a denied fetch after two allowed reads never leaves the process [S0-61]', async (t) => {
    const [allowed, denied] = [
      await startWeb(t, (_request, response) => response.end()),
      await startWeb(t, (_request, response) => response.end()),
    ];
    const { session, runtime } = await scene(t, [`127.0.0.1:${allowed.port}`]);
    const calls = [allowed.port, allowed.port, denied.port].map((port) => ({
      tool: 'curl',
      args: { url: `http://127.0.0.1:${port}/` },
    }));
    const responses = await session.batch(calls);
    assert.deepEqual(
      responses.map(({ ok }) => ok),
      [true, true, false],
    );
    const [error] = responses[2]?.errors ?? [];
    assert.deepEqual([error?.code, error?.path], ['E_POLICY', 'url']);
    const { gate, rule, field, host } = error?.details ?? {};
    assert.deepEqual(
      [gate, rule, field, host],
      ['rule', 'sec.network.allowlist', 'network.allowed_domains', `127.0.0.1:${denied.port}`],
    );
    assert.deepEqual([allowed.requests.length, denied.connections.length], [2, 0]);
    const kinds = [...runtime.records()].map(({ kind }) => kind);
    assert.equal(kinds.filter((kind) => kind === 'intent').length, 2);
  });

  test('a redirect out of the allowlist is E_POLICY by the same rule [S0-40]', async (t) => {
    const denied = await startWeb(t, (_request, response) => response.end());
    const server = await startWeb(t, (_request, response) => {
      response.writeHead(302, { Location: `http://127.0.0.1:${denied.port}/` }).end();
    });
    const { session } = await scene(t, [`127.0.0.1:${server.port}`]);
    const response = await session.call('curl', { url: `http://127.0.0.1:${server.port}/` });
    assert.deepEqual(
      [response.errors[0]?.code, response.errors[0]?.details?.['rule']],
      ['E_POLICY', 'sec.network.allowlist'],
    );
    assert.equal(denied.connections.length, 0);
  });

  test('a session that narrows the domains narrows its client [S0-23]', async (t) => {
    const [one, two] = [
      await startWeb(t, (_request, response) => response.end()),
      await startWeb(t, (_request, response) => response.end()),
    ];
    const { runtime } = await scene(t, [`127.0.0.1:${one.port}`, `127.0.0.1:${two.port}`]);
    const text = `version: 1\nnetwork: {allowed_domains: ["127.0.0.1:${one.port}"]}\n`;
    const session = await runtime.openSession({ registry: { file: 's.yaml', text } });
    assert.equal((await session.call('curl', { url: `http://127.0.0.1:${one.port}/` })).ok, true);
    assert.equal((await session.call('curl', { url: `http://127.0.0.1:${two.port}/` })).ok, false);
    assert.equal(two.connections.length, 0);
  });

  test('the registry sets the time, the caller may choose another below the maximum [S0-80]', async (t) => {
    const server = await startWeb(t, () => {});
    const more = 'tools: {curl: {timeout_ms: 100}}\n';
    const { session } = await scene(t, [`127.0.0.1:${server.port}`], {}, more);
    for (const args of [{}, { timeout_ms: 60 }]) {
      const response = await session.call('curl', { url: `http://127.0.0.1:${server.port}/`, ...args });
      assert.deepEqual([response.ok, response.errors[0]?.code], [false, 'E_TIMEOUT']);
    }
  });

  test('neither headers nor bodies nor credentials in the URL are written down [S0-83]', async (t) => {
    const server = await startWeb(t, (_request, response) => response.end());
    const { session, runtime } = await scene(t, [`127.0.0.1:${server.port}`]);
    const url = `http://127.0.0.1:${server.port}/`;
    await session.call('curl', { url, method: 'POST', headers: { 'X-Plain': 'hush-header' }, body: 'hush-body' });
    await session.call('curl', { url, method: 'POST', body_b64: btoa('hush-bytes') });
    await session.call('curl', { url: `http://me:hush-login@127.0.0.1:${server.port}/` });
    const written = JSON.stringify([...runtime.records()]);
    assert.equal(server.requests.length, 2);
    assert.ok(written.includes('curl'));
    assert.ok(!written.includes('hush') && !written.includes(btoa('hush-bytes')));
  });

  test('names go through the resolver of the runtime [S0-40]', async (t) => {
    const server = await startWeb(t, (_request, response) => response.end('named'));
    const { session } = await scene(t, [`a.test:${server.port}`, `127.0.0.1:${server.port}`], {
      ports: {
        wrapParts: (parts) => ({
          ...parts,
          createHttp: (allowedDomains) => createHttpClient({ allowedDomains, resolve: async () => ['127.0.0.1'] }),
        }),
      },
    });
    const response = await session.call('curl', { url: `http://a.test:${server.port}/`, as_text: true });
    assert.equal((response.data as { text: string }).text, 'named');
  });

  test('a session that ends closes its client, and only its own [S0-40]', async (t) => {
    const closed: string[] = [];
    const { runtime } = await scene(t, ['a.test', 'b.test'], {
      ports: {
        wrapParts: (parts) => ({
          ...parts,
          createHttp: (domains) => ({ send: async () => answer, close: () => closed.push(domains.join()) }),
        }),
      },
    });
    const text = 'version: 1\nnetwork: {allowed_domains: [a.test]}\n';
    const session = await runtime.openSession({ registry: { file: 's.yaml', text } });
    await session.close();
    assert.deepEqual(closed, ['a.test']);
  });
});
