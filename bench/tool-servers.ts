/** The two servers that are compared over the same kind of pipe: ours and the MCP filesystem server. */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureBuilt } from '../packages/host/test/ensure-built.ts';
import { startLineClient } from './line-client.ts';

export interface ToolServer {
  call(tool: string, args: object): Promise<void>;
  close(): void;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** `tool-runtime stdio` from the built files, journal on. */
export async function startOurs(workspace: string, state: string): Promise<ToolServer> {
  ensureBuilt();
  const client = startLineClient({
    program: process.execPath,
    args: [join(ROOT, 'packages/host/bin/tool-runtime.js'), 'stdio', '--workspace', workspace, '--state', state],
    cwd: workspace,
    idOf: ({ type, request_id, session_id }) =>
      type === 'ToolResponse' || type === 'ErrorMessage'
        ? String(request_id)
        : type === 'Heartbeat'
          ? `beat ${session_id}`
          : type === 'SessionAck'
            ? 'ack'
            : undefined,
  });
  const ack = await client.ask('ack', { type: 'Nothing' });
  const session_id = String(ack['session_id']);
  let count = 0;
  return {
    async call(tool, args) {
      const request_id = `r${++count}`;
      const answer = await client.ask(request_id, {
        type: 'ToolRequest',
        tool,
        args,
        request_id,
        session_id,
        timestamp: 0,
      });
      if (answer['ok'] !== true)
        throw new TypeError(`The benchmark was refused: ${JSON.stringify(answer).slice(0, 300)}`);
    },
    close: client.close,
  };
}

export async function startFilesystemServer(workspace: string): Promise<ToolServer> {
  const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/package.json');
  const client = startLineClient({
    program: process.execPath,
    args: [join(dirname(manifest), 'dist/index.js'), workspace],
    cwd: workspace,
    idOf: ({ id }) => (typeof id === 'number' ? id : undefined),
  });
  let count = 0;
  const rpc = (method: string, params: object) => client.ask(++count, { jsonrpc: '2.0', id: count, method, params });
  const clientInfo = { name: 'bench', version: '1' };
  await rpc('initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo });
  client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return {
    async call(tool, args) {
      const { result, error } = await rpc('tools/call', { name: tool, arguments: args });
      if (error !== undefined || (result as { isError?: boolean }).isError === true) {
        throw new TypeError(`The peer refused: ${tool}: ${JSON.stringify(error ?? result).slice(0, 300)}`);
      }
    },
    close: client.close,
  };
}
