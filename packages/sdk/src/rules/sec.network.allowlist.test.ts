import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { z } from 'zod';
import { startWeb } from '../../test/loopback-server.ts';
import type { SideEffectLevel } from '../contracts/annotations.ts';
import type { RuleContext, RuleSubject } from '../contracts/rule.ts';
import { defineTool } from '../contracts/tool.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';
import { secNetworkAllowlist } from './sec.network.allowlist.ts';

function subject(urls: string[], level: SideEffectLevel = 'network'): RuleSubject {
  return {
    tool: 'any',
    args: {},
    paths: [],
    urls: urls.map((value) => ({ key: 'url', value })),
    commands: [],
    environments: [],
    profile: { kind: 'fetch', side_effect_level: level, effect: 'network', risk: 'medium' },
    changes: [],
  };
}

const context = { registry: { allowedDomains: ['crates.io', '*.example.org'] } } as unknown as RuleContext;
const violations = (...urls: string[]) => secNetworkAllowlist.check(subject(urls), context);

/** A tool that sends, under whatever level it declares. */
const sender = (name: string, level: SideEffectLevel, params: string[]) =>
  defineTool({
    name,
    category: 'test',
    title: name,
    summary: name,
    args: z.strictObject({ target: z.union([z.string(), z.array(z.string())]) }),
    data: z.strictObject({ status: z.int() }),
    annotations: { kind: 'fetch', side_effect_level: level, arg_schema: { url_params: params } },
    effect: 'network',
    risk: 'medium',
    timeoutMs: 60_000,
    async run({ target }, { http }) {
      const url = Array.isArray(target) ? (target[0] ?? '') : target;
      const { status } = await http.send({
        method: 'GET',
        url,
        headers: {},
        body: null,
        timeoutMs: 60_000,
        maxBytes: 10,
      });
      return { status };
    },
  });

describe('sec.network.allowlist [S0-11 S0-61]', () => {
  for (const url of ['https://crates.io/', 'http://a.example.org/x']) {
    test(`passes ${url} [S0-11]`, async () => assert.deepEqual(await violations(url), []));
  }

  for (const url of [
    'https://evil.test/',
    'https://example.org/',
    'https://crates.io:22/',
    'crates.io',
    'ftp://crates.io/',
    '',
  ]) {
    test(`refuses ${JSON.stringify(url)} and says what to do instead [S0-11]`, async () => {
      const [violation] = await violations(url);
      assert.equal(violation?.path, 'url');
      assert.equal(violation?.details?.['field'], 'network.allowed_domains');
      assert.equal(typeof violation?.details?.['next'], 'string');
    });
  }

  test('judges every URL of a call [S0-11]', async () => {
    assert.equal((await violations('https://crates.io/', 'https://a.test/', 'https://b.test/')).length, 2);
  });

  test('applies to network calls with URLs, and to no other [S0-61]', () => {
    assert.equal(secNetworkAllowlist.appliesTo(subject(['https://crates.io/'])), true);
    assert.equal(secNetworkAllowlist.appliesTo(subject([])), false);
    assert.equal(secNetworkAllowlist.appliesTo(subject(['https://crates.io/'], 'read_only')), false);
  });

  test('holds for any tool that declares its URLs, although no registry lists the rule [S0-61]', async (t) => {
    const server = await startWeb(t, (_request, response) => response.end());
    const text = `version: 1\nnetwork: {allowed_domains: ["127.0.0.1:${server.port}"]}\n`;
    const tools = [
      sender('declared', 'network', ['target']),
      sender('undeclared', 'network', []),
      sender('too_low', 'read_only', ['target']),
    ];
    const scratch = await openScratchRuntime({ registry: { file: 'r.yaml', text }, tools });
    t.after(() => scratch.dispose());
    const call = async (tool: string, target: string | string[]) => {
      const { ok, errors } = await scratch.session.call(tool, { target });
      return ok ? 'ok' : `${errors[0]?.code} ${errors[0]?.details?.['gate']} ${errors[0]?.path ?? '-'}`;
    };
    const [inside, outside] = [`http://127.0.0.1:${server.port}/`, 'http://127.0.0.1:1/'];
    assert.equal(await call('declared', inside), 'ok');
    assert.equal(await call('declared', [inside, outside]), 'E_POLICY rule target');
    // What a tool forgets to declare the client still refuses, and a tool below the level gets no client at all.
    assert.equal(await call('undeclared', outside), 'E_POLICY rule url');
    assert.equal(await call('too_low', inside), 'E_POLICY http -');
    assert.equal(server.requests.length, 1);
  });
});
