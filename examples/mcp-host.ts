/**
 * An MCP client: starts `tool-runtime mcp` as a process, lists the tools, calls one, and is refused another.
 *
 * `tool-runtime` must be on the PATH. In a checkout, run `npx node -C tool-runtime-source examples/mcp-host.ts`.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-mcp-host-'));
const workspace = mkdtempSync(join(scratch, 'workspace-'));
writeFileSync(join(workspace, 'poem.txt'), 'one\ntwo\n');

const client = new Client({ name: 'mcp-host', version: '1.0.0' });
try {
  // The read-only profile lists tools that only read. It is also a limit: other tools cannot be called.
  const words = ['mcp', '--workspace', workspace, '--state', join(scratch, 'state'), '--profile', 'read-only'];
  await client.connect(new StdioClientTransport({ command: 'tool-runtime', args: words }));
  console.log(`${client.getServerVersion()?.name}: ${client.getInstructions()}`);

  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  console.log(
    `${names.length} tools, file_read ${names.includes('file_read')}, file_write ${names.includes('file_write')}`,
  );
  assert.deepEqual([names.includes('file_read'), names.includes('file_write')], [true, false]);
  assert.equal(
    tools.every(({ annotations }) => annotations?.readOnlyHint === true),
    true,
  );

  const read = await client.callTool({ name: 'file_read', arguments: { path: 'poem.txt' } });
  const [text] = read.content as { text: string }[];
  console.log(text?.text);
  assert.match(text?.text ?? '', /one\ntwo$/);

  // A refusal is an answer that the model can read. It names the rule and what to do instead.
  const escaped = await client.callTool({ name: 'file_read', arguments: { path: '../state/journal.key' } });
  console.log(JSON.stringify(escaped.content));
  assert.equal(escaped.isError, true);
  assert.match(JSON.stringify(escaped.content), /sec\.paths\.sandbox/);
} finally {
  await client.close();
  rmSync(scratch, { recursive: true });
}
