import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import type { ToolResponse } from '@tool-runtime/protocol';
import type { AskClient, ToolSourcePorts } from '@tool-runtime/sdk';
import {
  createStage,
  everything,
  filesystem,
  lying,
  modern,
  mounted,
  type Opened,
  type Stage,
} from '../../../test/mcp/gateway-stage.ts';
import { createModernTools } from '../../../test/mcp/servers/modern-tools.ts';
import { createGateway } from './create-gateway.ts';
import { approvePins, listPins } from './pin-file.ts';

function stage(context: TestContext): Stage {
  const made = createStage();
  context.after(() => made.dispose());
  return made;
}

/** A runtime whose server is approved, and what is needed to open another. */
async function approved(context: TestContext, server: object, more: object = {}): Promise<Opened & { stage: Stage }> {
  const made = stage(context);
  const registry = mounted({ s: server }, more);
  await made.approve(registry, 's');
  return { ...(await made.open(registry)), stage: made };
}

const ORPHAN_HOST = join(import.meta.dirname, '../../../test/mcp/servers/orphan-host.ts');

/** A process that ended and was not collected yet counts as gone. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

function textOf({ data }: ToolResponse): string {
  const { content = [] } = (data ?? {}) as { content?: readonly { text?: string }[] };
  return content.map(({ text = '' }) => text).join('\n');
}

function reasonOf({ errors }: ToolResponse): unknown {
  return errors[0]?.details?.['reason'];
}

describe('real servers of 2025 (deep)', () => {
  test('server-everything answers as a tool, with its own schema in the listing (deep)', async (context) => {
    const { session, runtime } = await approved(context, everything());
    const [schema] = session.tools('s_get-sum').map(({ argsSchema }) => argsSchema as { properties: object });
    assert.deepEqual(Object.keys(schema?.properties ?? {}), ['a', 'b']);
    const sum = await session.call('s_get-sum', { a: 2, b: 3 });
    assert.equal(textOf(sum), 'The sum of 2 and 3 is 5.');
    assert.ok([...runtime.records()].some((record) => JSON.stringify(record).includes('"mcp_server":"s"')));
    const wrong = await session.call('s_get-sum', { a: 'two', b: 3 });
    assert.equal(wrong.errors[0]?.code, 'E_VALIDATION_FAIL');
  });

  test('structured content, images and links arrive as data (deep)', async (context) => {
    const { session } = await approved(context, everything());
    const weather = await session.call('s_get-structured-content', { location: 'Chicago' });
    assert.deepEqual(Object.keys((weather.data as { structured: object }).structured).sort(), [
      'conditions',
      'humidity',
      'temperature',
    ]);
    const image = await session.call('s_get-tiny-image', {});
    const kinds = (image.data as { content: { type: string; mimeType?: string }[] }).content.map(({ type }) => type);
    assert.ok(kinds.includes('image'));
    const links = await session.call('s_get-resource-links', { count: 2 });
    assert.ok(JSON.stringify(links.data).includes('resource_link'));
  });

  test('progress of the server becomes progress of the call (deep)', async (context) => {
    const { session } = await approved(context, everything());
    const heard: number[] = [];
    session.listen(({ message }) => heard.push(message.progress?.pct ?? -1));
    await session.call('s_trigger-long-running-operation', { duration: 0.4, steps: 4 });
    assert.ok(heard.includes(50), `heard ${heard}`);
  });

  test('a question in the middle of a call goes to the caller, and without one is declined (deep)', async (context) => {
    const { session } = await approved(context, everything());
    const asked: string[] = [];
    const askClient: AskClient = async (questions) => {
      asked.push(...Object.values(questions).map(({ method }) => method));
      const answer = { action: 'accept', content: { name: 'Ada', check: true } };
      return Object.fromEntries(Object.keys(questions).map((name) => [name, answer]));
    };
    const answered = await session.call('s_trigger-elicitation-request', {}, { askClient });
    assert.deepEqual(asked, ['elicitation/create']);
    assert.match(textOf(answered), /Ada/);
    assert.match(textOf(await session.call('s_trigger-elicitation-request', {})), /decline/i);
  });

  test('server-filesystem works in the workspace, and paths are judged before it hears of them (deep)', async (context) => {
    const made = stage(context);
    writeFileSync(join(made.workspace, 'a.txt'), 'hello');
    const server = filesystem(made.workspace, { path_args: { '*': ['path'] }, cwd: '.' });
    const registry = mounted({ fs: server });
    await made.approve(registry, 'fs');
    const { session } = await made.open(registry);
    assert.match(textOf(await session.call('fs_read_text_file', { path: 'a.txt' })), /hello/);
    const outside = await session.call('fs_read_text_file', { path: '../../etc/passwd' });
    assert.equal(outside.errors[0]?.details?.['rule'], 'sec.paths.sandbox');
    await session.call('fs_write_file', { path: 'b.txt', content: 'new' });
    assert.equal(readFileSync(join(made.workspace, 'b.txt'), 'utf8'), 'new');
  });

  test('path rules judge what a path leads to before a server hears of it', async (context) => {
    const made = stage(context);
    for (const folder of ['docs/sub', 'secret']) mkdirSync(join(made.workspace, folder), { recursive: true });
    for (const file of ['docs/sub/a.txt', 'secret/a.txt']) writeFileSync(join(made.workspace, file), 'hello');
    symlinkSync('../secret', join(made.workspace, 'docs/link'));
    symlinkSync('sub', join(made.workspace, 'docs/inner'));
    const server = filesystem(made.workspace, { path_args: { '*': ['path'] }, cwd: '.' });
    const tools = ['fs_read_text_file', 'fs_write_file', 'fs_list_directory', 'fs_directory_tree'];
    const constraints = tools.map((tool) => ({
      tool,
      arg_patterns: ['docs', 'docs/inner/**', 'docs/sub/**', 'docs/link/**'],
    }));
    const registry = { ...mounted({ fs: server }), arg_constraints: constraints };
    await made.approve(registry, 'fs');
    const { session } = await made.open(registry);
    for (const [tool, path] of [
      ['fs_read_text_file', 'docs/link/a.txt'],
      ['fs_write_file', 'docs/link/a.txt'],
      ['fs_write_file', 'docs/link/new.txt'],
      ['fs_list_directory', 'docs/link'],
      ['fs_directory_tree', 'docs'],
    ] as const) {
      const { errors } = await session.call(tool, { path, content: 'changed' });
      assert.equal(errors[0]?.details?.['reason'], 'arg_constraint', `${tool} ${path}`);
    }
    assert.equal(readFileSync(join(made.workspace, 'secret/a.txt'), 'utf8'), 'hello');
    assert.match(textOf(await session.call('fs_read_text_file', { path: 'docs/inner/a.txt' })), /hello/);
    assert.match(textOf(await session.call('fs_list_directory', { path: 'docs/sub' })), /a\.txt/);
  });

  test('a server whose tools may only read cannot write, whatever it offers', async (context) => {
    const made = stage(context);
    writeFileSync(join(made.workspace, 'a.txt'), 'hello');
    const registry = mounted({ fs: filesystem(made.workspace, { side_effect_level: 'read_only' }) });
    await made.approve(registry, 'fs');
    const { session } = await made.open(registry);
    assert.match(textOf(await session.call('fs_read_text_file', { path: 'a.txt' })), /hello/);
    const refused = await session.call('fs_edit_file', { path: 'a.txt', edits: [{ oldText: 'hello', newText: 'x' }] });
    assert.equal(refused.ok, false);
    assert.equal(readFileSync(join(made.workspace, 'a.txt'), 'utf8'), 'hello');
  });
});

describe('servers of 2026', () => {
  test('a server on stdio is negotiated, called and answered when it asks (deep)', async (context) => {
    const { session, stage: made } = await approved(context, modern());
    assert.equal(listPins(made.state)['s']?.family, 'modern');
    const sum = await session.call('s_add', { a: 1, b: 2 });
    assert.deepEqual((sum.data as { structured: unknown }).structured, { sum: 3 });
    const askClient: AskClient = async () => ({ who: { action: 'accept', content: { name: 'Ada' } } });
    assert.equal(textOf(await session.call('s_greet', { word: 'hi' }, { askClient })), 'hi Ada');
    assert.equal(textOf(await session.call('s_greet', { word: 'hi' })), 'hi nobody (decline)');
  });

  test('a server on HTTP gets its header from the environment, and says which variable is missing', async (context) => {
    const headers: (string | undefined)[] = [];
    const handler = createMcpHandler(createModernTools);
    const listen = getRequestListener((request) => handler.fetch(request));
    const server = createServer((request, response) => {
      headers.push(request.headers['x-key']?.toString());
      return listen(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    context.after(() => server.close());
    context.after(() => server.closeAllConnections());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
    const web = { web: { url, tools: ['*'], headers_env: { 'X-Key': 'WEB_KEY' } } };
    const registry = mounted(web, { network: { insecure_credentials: [new URL(url).host] } });
    const made = stage(context);
    const unlisted = await made.open(mounted(web), { environment: { WEB_KEY: 'very secret' } });
    await assert.rejects(unlisted.gateway.refresh('web'), /over plain http \(headers_env\)/);
    assert.deepEqual(headers, []);
    const without = await made.open(registry, { environment: {} });
    await assert.rejects(without.gateway.refresh('web'), /Variable .*: WEB_KEY/);
    const environment = { WEB_KEY: 'very secret' };
    const { gateway } = await made.open(registry, { environment });
    await gateway.refresh('web');
    approvePins(made.state, 'web');
    const { session } = await made.open(registry, { environment });
    assert.equal(textOf(await session.call('web_add', { a: 1, b: 2 })), '3');
    const askClient: AskClient = async () => ({ who: { action: 'accept', content: { name: 'Ada' } } });
    assert.equal(textOf(await session.call('web_greet', { word: 'hi' }, { askClient })), 'hi Ada');
    assert.ok(headers.length > 0 && headers.every((header) => header === 'very secret'));
    const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'congo=1' };
    assert.deepEqual(JSON.parse(textOf(await session.call('web_trace', {}, trace))), trace);
    assert.deepEqual(JSON.parse(textOf(await session.call('web_trace', {}, { traceparent: 'nonsense' }))), {});
  });
});

describe('pins', () => {
  test('opening a runtime starts nothing; unapproved tools are hidden with the reason (deep)', async (context) => {
    const made = stage(context);
    const registry = mounted({ s: lying('honest') });
    const first = await made.open(registry);
    assert.match(first.runtime.warnings[0]?.message ?? '', /no approved tools/);
    await first.gateway.refresh('s');
    const second = await made.open(registry);
    assert.equal(second.gateway.servers()[0]?.isRunning, false);
    assert.deepEqual(second.session.tools('s_work'), []);
    assert.match(second.session.hidden().find(({ name }) => name === 's_work')?.reason ?? '', /not approved/);
    assert.equal(reasonOf(await second.session.call('s_work', {})), 'definition_unapproved');
    approvePins(made.state, 's', ['work']);
    const third = await made.open(registry);
    assert.equal(textOf(await third.session.call('s_work', { word: 'it' })), 'did it');
    assert.equal(third.gateway.servers()[0]?.isRunning, true);
  });

  test('a tool shows no text of a definition that was not approved', async (context) => {
    const made = stage(context);
    const registry = mounted({ s: lying('honest') });
    const { gateway, runtime } = await made.open(registry);
    await gateway.refresh('s');
    const summaries = async () => {
      const ports = { registry: runtime.registry, state: made.state, names: new Set(), redact: String };
      const source = await createGateway().open(ports as unknown as ToolSourcePorts);
      await source.close();
      return source.tools.map(({ name, summary }) => [name, summary]);
    };
    assert.deepEqual(await summaries(), [['s_work', 'Tool of the MCP server s']]);
    approvePins(made.state, 's');
    assert.deepEqual(await summaries(), [['s_work', 'Does work']]);
  });

  test('a definition that changed is refused at the first call, hidden, and back when it is approved (deep)', async (context) => {
    const made = stage(context);
    await made.approve(mounted({ s: lying('honest') }), 's');
    const injected = mounted({ s: lying('injected') });
    const { session, runtime } = await made.open(injected);
    assert.equal(session.tools('s_work')[0]?.summary, 'Does work');
    assert.equal(reasonOf(await session.call('s_work', { word: 'it' })), 'definition_changed');
    const later = await runtime.openSession();
    assert.match(later.hidden().find(({ name }) => name === 's_work')?.reason ?? '', /changed since/);
    approvePins(made.state, 's');
    const { session: again } = await made.open(injected);
    assert.equal(textOf(await again.call('s_work', { word: 'it' })), 'did it');
  });

  test('a definition that changes while the server runs is noticed by the next call (deep)', async (context) => {
    const { session } = await approved(context, lying('turns'));
    assert.equal(textOf(await session.call('s_work', { word: 'it' })), 'did it');
    assert.equal(reasonOf(await session.call('s_work', { word: 'it' })), 'definition_changed');
  });

  for (const [mode, reason] of [
    ['huge_schema', /larger than/],
    ['deep_schema', /nested deeper/],
    ['remote_ref', /another document/],
    ['dynamic_ref', /\$dynamicRef/],
    ['hidden_words', /invisible/],
  ] as const) {
    test(`a definition out of bounds is never kept: ${mode}`, async (context) => {
      const { session, stage: made } = await approved(context, lying(mode));
      assert.match(session.hidden().find(({ name }) => name === 's_work')?.reason ?? '', reason);
      assert.equal(reasonOf(await session.call('s_work', {})), 'definition_refused');
      assert.ok(readFileSync(join(made.state, 'mcp-pins.json')).length < 2000);
    });
  }
});

describe('policy', () => {
  test('every call asks unless auto_approve lists the tool (deep)', async (context) => {
    const made = stage(context);
    const servers = { mcp_servers: { s: lying('honest', { side_effect_level: 'read_only' }) } };
    await made.approve(servers, 's');
    const silent = await made.open(servers);
    const refused = await silent.session.call('s_work', { word: 'it' });
    assert.equal(refused.errors[0]?.details?.['gate'], 'approval');
    const { session } = await made.open({ ...servers, approvals: { auto_approve: ['s_work'] } });
    assert.equal(textOf(await session.call('s_work', { word: 'it' })), 'did it');
  });

  test('the hints of a server tighten and never loosen (deep)', async (context) => {
    const made = stage(context);
    const registry = mounted({ s: lying('destroys', { side_effect_level: 'read_only' }) });
    await made.approve(registry, 's');
    const { session } = await made.open(registry);
    assert.equal(session.tools('s_work')[0]?.kind, 'delete');
    assert.equal(session.tools('s_work')[0]?.sideEffectLevel, 'workspace_write');
    const low = await made.open({ ...registry, side_effect_level: 'read_only' });
    assert.equal(low.session.tools('s_work').length, 0);
  });

  test('constraints on arguments hold, and a session may keep fewer tools but no more (deep)', async (context) => {
    const made = stage(context);
    const constrained = { arg_constraints: [{ tool: 's_*', arg_key: 'word', arg_patterns: ['good*'] }] };
    const registry = mounted({ s: lying('honest') }, constrained);
    await made.approve(registry, 's');
    const { session, runtime } = await made.open(registry);
    assert.equal((await session.call('s_work', { word: 'bad' })).errors[0]?.code, 'E_POLICY');
    assert.equal(textOf(await session.call('s_work', { word: 'good' })), 'did good');
    const text = (tools: readonly string[]) => JSON.stringify({ version: 1, mcp_servers: { s: { tools } } });
    const less = await runtime.openSession({ registry: { text: text([]), file: 'session' } });
    assert.match(less.hidden().find(({ name }) => name === 's_work')?.reason ?? '', /not listed/);
    const same = await runtime.openSession({ registry: { text: text(['work']), file: 'session' } });
    assert.equal(same.tools('s_work').length, 1);
    const other = JSON.stringify({ version: 1, mcp_servers: { t: { url: 'https://example.org', tools: ['*'] } } });
    await assert.rejects(
      runtime.openSession({ registry: { text: other, file: 'session' } }),
      /MCP server is not one of the host's: t/,
    );
  });

  test('a server gets the variables named and no others, and they do not come back (deep)', async (context) => {
    const made = stage(context);
    const environment = { SECRET_NAME: 'swordfish-11', OTHER: 'private' };
    const registry = (mode: string) => mounted({ s: lying(mode, { env: ['SECRET_NAME'] }) });
    await made.approve(registry('environment'), 's');
    const { session } = await made.open(registry('environment'), { environment });
    const seen = textOf(await session.call('s_work', {}));
    assert.ok(seen.includes('SECRET_NAME') && !seen.includes('OTHER') && !seen.includes('npm_package_'), seen);
    const echo = await made.open(registry('echoes_secret'), { environment });
    const said = textOf(await echo.session.call('s_work', {}));
    assert.match(said, /^token /);
    assert.ok(!said.includes('swordfish'));
  });
});

describe('servers that misbehave (deep)', () => {
  test('an answer that is too long is cut, and kept whole as an artifact', async (context) => {
    const { session } = await approved(context, lying('huge_output', { max_output_bytes: 10_000 }));
    const answer = await session.call('s_work', {});
    const { artifact, truncated } = answer.data as { artifact: { handle: string; bytes: number }; truncated: boolean };
    assert.ok(truncated && JSON.stringify(answer.data).length < 10_500);
    assert.ok(artifact.bytes > 2_000_000);
    const page = await session.call('artifact_read', { artifact: artifact.handle });
    assert.ok(page.ok, JSON.stringify(page.errors));
  });

  test('a crash fails the call, is not repeated, and the next call starts the server again', async (context) => {
    const made = stage(context);
    await made.approve(mounted({ s: lying('honest') }), 's');
    const { session } = await made.open(mounted({ s: lying('crash') }));
    for (const _ of [1, 2]) {
      const answer = await session.call('s_work', {});
      assert.equal(answer.errors[0]?.code, 'E_SHELL');
      assert.equal(reasonOf(answer), 'server_ended');
      assert.equal(answer.errors[0]?.details?.['retry'], 'retryable');
    }
    assert.equal(made.log.filter(({ event }) => event === 'mcp_server_ended').length, 2);
  });

  test('a server that never answers costs the call its time limit and nothing more (deep)', async (context) => {
    const { session, gateway } = await approved(context, lying('silent'));
    assert.equal(textOf(await session.call('s_work', { word: 'now' })), 'did now');
    const answer = await session.call('s_work', { word: 'never' }, { timeoutMs: 300 });
    assert.equal(answer.errors[0]?.code, 'E_TIMEOUT');
    assert.equal(gateway.servers()[0]?.isRunning, true);
  });

  test('a server that does not even listen is killed when its call is cancelled (deep)', async (context) => {
    const { session, gateway, stage: made } = await approved(context, lying('deaf', {}, 'pid'));
    const cancel = new AbortController();
    const answer = session.call('s_work', {}, { signal: cancel.signal });
    while (!existsSync(join(made.workspace, 'pid'))) await new Promise((resolve) => setTimeout(resolve, 20));
    cancel.abort();
    assert.equal((await answer).ok, false);
    assert.equal(gateway.servers()[0]?.isRunning, false);
    assert.match(JSON.stringify(made.log.at(-1)), /did not stop/);
  });

  test('failures of the tool and of the protocol are told apart (deep)', async (context) => {
    const failed = await (await approved(context, lying('fails'))).session.call('s_work', {});
    assert.deepEqual([failed.errors[0]?.code, reasonOf(failed)], ['E_SHELL', 'tool_failed']);
    assert.match(failed.errors[0]?.message ?? '', /the disk is full/);
    const refused = await (await approved(context, lying('rpc_error'))).session.call('s_work', {});
    assert.deepEqual([refused.errors[0]?.code, reasonOf(refused)], ['E_SHELL', 'rpc_error']);
    const wrong = await (await approved(context, lying('wrong_output'))).session.call('s_work', {});
    assert.equal(reasonOf(wrong), 'invalid_answer');
  });

  test('noise on either stream harms nothing and is not logged without end (deep)', async (context) => {
    const noisy = await approved(context, lying('garbage'));
    assert.equal(textOf(await noisy.session.call('s_work', { word: 'it' })), 'did it');
    const { session, stage: made } = await approved(context, lying('flood'));
    assert.equal(textOf(await session.call('s_work', { word: 'it' })), 'did it');
    assert.equal(made.log.filter(({ event }) => event === 'mcp_server_stderr').length, 60);
  });

  test('a server that quits when it is asked for its family is taken for an older one', async (context) => {
    const { session } = await approved(context, lying('quits_when_probed'));
    assert.equal(textOf(await session.call('s_work', { word: 'it' })), 'did it');
  });

  test('closing the runtime ends the process and what it started', async (context) => {
    const { session, runtime, gateway } = await approved(context, lying('honest', { isolation: 'none' }));
    await session.call('s_work', {});
    assert.equal(gateway.servers()[0]?.isRunning, true);
    await runtime.close();
    assert.equal(gateway.servers()[0]?.isRunning, false);
  });

  test('a server that would stay ends with its host, however the host dies (deep)', async (context) => {
    const host = spawn(process.execPath, ['-C', 'tool-runtime-source', ORPHAN_HOST], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    context.after(() => host.kill('SIGKILL'));
    const [said] = await once(host.stdout, 'data');
    const pid = Number(String(said));
    assert.ok(isRunning(pid), `server ${said} runs`);
    host.kill('SIGKILL');
    while (isRunning(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
  });
});
