/**
 * Run and type-checked in a folder with the packages installed: a program that embeds a runtime with code intelligence
 * and a host, and names something of every entry that needs no framework. Says nothing; whatever is wrong is thrown.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AcpToolCall, fromAcpKind, toAcpToolCall } from '@tool-runtime/adapters/acp';
import { callTool, listTools, type ToolDescription } from '@tool-runtime/adapters/generic';
import { type OpenAIToolSet, toOpenAITools } from '@tool-runtime/adapters/openai';
import { type AstOptions, createAst } from '@tool-runtime/ast';
import { type RunningHost, type StartHostOptions, startHost } from '@tool-runtime/host';
import { ToolError, type ToolResponse } from '@tool-runtime/protocol';
import { connectToHost } from '@tool-runtime/protocol/client';
import {
  createRuntime,
  defineTool,
  type Runtime,
  type RuntimeOptions,
  type Session,
  type ToolListing,
} from '@tool-runtime/sdk';
import { createMemoryJournal, createRedactor, digest, type Redactor } from '@tool-runtime/sdk/parts';
import { createOpenTelemetry, type OpenTelemetryOptions } from '@tool-runtime/sdk/telemetry';
import { openScratchRuntime, type ScratchRuntime } from '@tool-runtime/sdk/testing';
import {
  runTool,
  type ToolContext,
  ToolFailure,
  type ToolDescription as ToolProgram,
} from '@tool-runtime/sdk/tool-kit';
import { z } from 'zod';

/** Its schemas come from the zod of this program, which is another copy than the one inside our bundles. */
const ownTool = defineTool({
  name: 'shout',
  category: 'own',
  title: 'Shout',
  summary: 'Say it loudly',
  args: z.strictObject({ text: z.string().min(1).describe('What to say') }),
  data: z.strictObject({ loud: z.string() }),
  annotations: { kind: 'read', side_effect_level: 'read_only' },
  effect: 'read',
  risk: 'low',
  timeoutMs: 1000,
  run({ text }) {
    if (text === 'no') throw new ToolError('E_VALIDATION_FAIL', 'Not that', { details: { reason: 'own' } });
    return { loud: text.toUpperCase() };
  },
});

const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-installed-'));
try {
  await embedRuntime(mkdtempSync(join(scratch, 'workspace-')));
  await embedHost(mkdtempSync(join(scratch, 'workspace-')));
  await useParts();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function embedRuntime(workspace: string): Promise<void> {
  const astOptions: AstOptions = { inMemory: true };
  const telemetryOptions: OpenTelemetryOptions = {};
  const options: RuntimeOptions = {
    workspace,
    state: join(scratch, 'runtime-state'),
    ast: createAst(astOptions),
    tools: [ownTool],
    telemetry: createOpenTelemetry(telemetryOptions),
  };
  const runtime: Runtime = await createRuntime(options);
  const session: Session = await runtime.openSession({ actor: 'stranger' });
  const content = 'export function greet(): string {\n  return "hello";\n}\n';
  const written: ToolResponse = await session.call('file_write', { path: 'greet.ts', content });
  assert.deepEqual([written.ok, written.errors], [true, []]);
  const read = await session.call('file_read', { path: 'greet.ts' });
  assert.ok(read.ok);
  assert.equal(read.data.content, content);
  // @ts-expect-error The declarations know the arguments of a tool by its name.
  assert.equal((await session.call('file_read', { pth: 'greet.ts' })).ok, false);
  const found = await session.call('grep', { pattern: 'hello' });
  assert.match(JSON.stringify(found.data), /greet\.ts/);
  const declared = await session.call('ast_query', { where: {} });
  assert.ok(declared.ok);
  const isCut: boolean = declared.data.truncated;
  assert.deepEqual([isCut, /"greet"/.test(JSON.stringify(declared.data))], [false, true]);
  // @ts-expect-error So do those of code intelligence.
  assert.equal((await session.call('ast_query', { wher: {} })).ok, false);
  const escaped = await session.call('file_read', { path: '../secret' });
  assert.equal(escaped.errors[0]?.code, 'E_POLICY');
  await useOwnTool(session);
  await offerTools(session, workspace);
  assert.equal(runtime.verify().ok, true);
  await runtime.close();
}

async function useOwnTool(session: Session): Promise<void> {
  const [listed] = session.tools().filter(({ name }) => name === 'shout');
  assert.match(JSON.stringify(listed?.argsSchema), /"description":"What to say"/);
  assert.deepEqual((await session.call('shout', { text: 'hey' })).data, { loud: 'HEY' });
  assert.equal((await session.call('shout', { text: '' })).errors[0]?.code, 'E_VALIDATION_FAIL');
  const [refused] = (await session.call('shout', { text: 'no' })).errors;
  assert.equal(refused?.details?.['reason'], 'own');
  const outside = createRuntime({ workspace: join(scratch, 'no-such-folder') });
  await assert.rejects(outside, (thrown) => thrown instanceof ToolError);
}

async function offerTools(session: Session, workspace: string): Promise<void> {
  const listed: readonly ToolListing[] = session.tools();
  const described: readonly ToolDescription[] = listTools(session);
  const set: OpenAIToolSet<'responses'> = toOpenAITools(session, { api: 'responses' });
  assert.deepEqual([described.length, set.tools.length], [listed.length, listed.length]);
  const called = await callTool(session, { name: 'file_read', args: { path: 'greet.ts' } });
  assert.equal(called.ok, true);
  const shown: AcpToolCall = toAcpToolCall(
    { callId: '1', title: 'Read', kind: fromAcpKind('read'), args: { path: 'greet.ts' } },
    { workspace },
  );
  assert.equal(shown.kind, 'read');
}

async function embedHost(workspace: string): Promise<void> {
  const options: StartHostOptions = {
    workspaces: [workspace],
    state: join(scratch, 'host-state'),
    http: { hostname: '127.0.0.1', port: 0 },
  };
  const host: RunningHost = await startHost(options);
  const session = await connectToHost({ url: host.url ?? '', token: host.token ?? '' });
  const written = await session.call('file_write', { path: 'a.txt', content: 'over a socket' });
  assert.equal(written.ok, true);
  await session.close();
  await host.stop();
}

async function useParts(): Promise<void> {
  const redactor: Redactor = createRedactor({ secrets: ['hush-hush'] });
  assert.doesNotMatch(JSON.stringify(redactor.redactJson({ say: 'hush-hush' })), /hush-hush/);
  assert.match(digest('a'), /[0-9a-f]{64}/);
  assert.equal(typeof createMemoryJournal, 'function');
  const made: ScratchRuntime = await openScratchRuntime();
  await made.dispose();
  const program: ToolProgram = { name: 'probe', version: '1.0.0', run: (_context: ToolContext) => {} };
  assert.deepEqual([typeof runTool, typeof program.run, ToolFailure.name], ['function', 'function', 'ToolFailure']);
}
