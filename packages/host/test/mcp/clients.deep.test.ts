import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Progress, Tool } from '@modelcontextprotocol/server';
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { eventually } from '../wire/within.ts';
import { findProcesses } from './find-processes.ts';
import { openStage, type Stage } from './stage.ts';
import { type OpenedClient, WAYS } from './ways.ts';

const FAMILY_VERSION = { '2025': '2025-11-25', '2026': '2026-07-28' };

describe('MCP server, by official clients', { concurrency: 2 }, () => {
  for (const [at, { name, kind, family, open }] of WAYS.entries()) {
    test(`${name}: lists strict schemas, calls, refuses, reports progress, cancels [S0-82]`, async () => {
      await using stage = await openStage(kind);
      await using client = await open(stage, { name: `client ${at}` });
      assert.equal(client.version, FAMILY_VERSION[family]);
      const tools = await client.tools();
      await checkRead(client, checkSchemas(tools), tools);
      await checkRefusal(client);
      await checkProgressAndCancel(client, stage);
      const requested = (await stage.journal()).filter((record) => record.kind === 'requested');
      assert.equal(requested.length, 3);
      for (const record of requested) assert.match(record.client, new RegExp(`^client ${at}`));
    });
  }
});

function checkSchemas(tools: readonly Tool[]): Ajv2020 {
  const names = tools.map((tool) => tool.name);
  assert.deepEqual(names, names.toSorted(), 'a stable order');
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, strictTypes: false });
  addFormats.default(ajv);
  for (const { inputSchema, outputSchema } of tools) {
    assert.equal(inputSchema.type, 'object');
    ajv.compile(inputSchema as AnySchema);
    if (outputSchema !== undefined) ajv.compile(outputSchema as AnySchema);
  }
  return ajv;
}

async function checkRead(client: OpenedClient, ajv: Ajv2020, tools: readonly Tool[]): Promise<void> {
  const read = await client.call('file_read', { path: 'hello.txt' });
  assert.equal(read.isError, undefined);
  const [text] = read.content;
  assert.ok(text?.type === 'text');
  assert.match(text.text, /^hello\.txt: 1 line, 6 bytes, sha256 \w{64}\nhello$/);
  const reader = tools.find((tool) => tool.name === 'file_read');
  assert.ok(reader?.outputSchema !== undefined);
  assert.ok(ajv.validate(reader.outputSchema as AnySchema, read.structuredContent), ajv.errorsText());
}

async function checkRefusal(client: OpenedClient): Promise<void> {
  const refused = await client.call('file_read', { path: '../outside.txt' });
  assert.equal(refused.isError, true);
  const [reason] = refused.content;
  assert.ok(reason?.type === 'text' && /^E_[A-Z_]+: /.test(reason.text), JSON.stringify(reason));
}

/** Only the cancel can end it. */
async function checkProgressAndCancel(client: OpenedClient, stage: Stage): Promise<void> {
  const heard: Progress[] = [];
  const canceller = new AbortController();
  const talking = client.call(
    'shell_exec',
    { cmd: 'sh talk' },
    { signal: canceller.signal, onprogress: (news) => heard.push(news) },
  );
  const early = talking.then(
    (result) => assert.fail(`It ended by itself: ${JSON.stringify(result.content)}`),
    () => undefined,
  );
  // Before the command prints, progress only says that it runs.
  const ticks = () => heard.filter(({ message }) => /tick/.test(message ?? ''));
  await Promise.race([early, eventually(() => ticks().length >= 3, 'three pieces of progress')]);
  for (const [at, { progress }] of heard.entries()) assert.ok(at === 0 || progress > heard[at - 1]!.progress);
  assert.ok(findProcesses(stage.oddNumber).length > 0, 'the command has a child');
  canceller.abort();
  await assert.rejects(talking);
  await eventually(() => findProcesses(stage.oddNumber).length === 0, 'the process tree is gone');
  await eventually(async () => {
    const results = (await stage.journal()).filter((record) => record.kind === 'result');
    return results.some(({ tool, status }) => tool === 'shell_exec' && status === 'cancelled');
  }, 'the journal says cancelled');
}
