// A server of 2025 whose tools are what a file in the workspace says: `[{ "name": "work", "description": "…" }]`.
// `work` answers; `wait` never does.
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file = 'tools.json'] = process.argv.slice(2);
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const tools = JSON.parse(readFileSync(file, 'utf8')).map((tool) => ({ inputSchema: { type: 'object' }, ...tool }));

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const serverInfo = { name: 'told', version: '1' };
    send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') send({ id, result: { tools } });
  else if (method === 'tools/call') {
    if (params.name !== 'wait') send({ id, result: { content: [{ type: 'text', text: `did ${params.name}` }] } });
  } else if (method === 'ping') send({ id, result: {} });
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'unknown' } });
});
