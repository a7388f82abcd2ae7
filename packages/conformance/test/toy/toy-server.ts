/**
 * Starts the toy server: `toy-server.ts <mcp|envelopes> <workspace> <state> [fault]`, or prints or checks its journal:
 * `toy-server.ts <show|verify> <workspace> <state> [fault]`.
 */
import { existsSync, readFileSync } from 'node:fs';
import { FAULTS } from './faults.ts';
import { Refusal, Toy } from './parts.ts';

type Args = Readonly<Record<string, string>>;

interface Call {
  readonly id: string | number;
  readonly tool: string;
  readonly args: Args;
  readonly key: string | undefined;
}

const [mode = '', workspace = '', state = '', fault] = process.argv.slice(2);
const Kind = fault === undefined ? Toy : FAULTS[fault];
if (Kind === undefined) throw new TypeError(`No such fault: ${fault}`);
const toy = new Kind({ workspace, state });

const cancels = new Map<string | number, () => void>();
const TOOLS = ['read', 'write', 'edit', 'list', 'search', 'run'];
const send = (message: object): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

async function carryOut({ id, tool, args, key }: Call): Promise<{ ok: boolean; text: string }> {
  const what = JSON.stringify({ tool, args: { ...args, content: undefined } });
  try {
    const body = () => toText(id, tool, args);
    const text = key === undefined ? await body() : await toy.once(key, JSON.stringify(args), body);
    toy.record(what, true);
    return { ok: true, text };
  } catch (cause) {
    toy.record(what, false);
    return { ok: false, text: toy.describeError(cause, tool) };
  }
}

async function toText(id: string | number, tool: string, args: Args): Promise<string> {
  const name = (key: string): string => {
    const value = args[key];
    if (typeof value !== 'string') throw new Refusal(`${key} is missing`);
    return value;
  };
  switch (tool) {
    case 'read':
      return await toy.read(name('path'));
    case 'write':
      return await toy.write(name('path'), name('content'));
    case 'edit':
      return await toy.edit(name('path'), name('old'), name('new'));
    case 'list':
      return await toy.list(name('path'));
    case 'search':
      return await toy.search(name('path'), name('pattern'));
    case 'run': {
      const { output, code } = await toy.run(name('command'), new Promise((resolve) => cancels.set(id, resolve)));
      cancels.delete(id);
      if (code !== 0) throw new Refusal(`exit code ${code}: ${output}`);
      return output;
    }
    default:
      throw new Refusal('There is no such tool');
  }
}

async function onMcp(message: Readonly<Record<string, unknown>>): Promise<void> {
  const { id, method, params } = message as { id?: number; method: string; params: unknown };
  if (method === 'notifications/cancelled') cancels.get((params as { requestId: number }).requestId)?.();
  if (id === undefined) return;
  const answer = (result: object): void => send({ jsonrpc: '2.0', id, result });
  if (method === 'initialize') {
    const serverInfo = { name: 'toy', version: '1' };
    answer({ protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo });
  } else if (method === 'tools/list') {
    answer({ tools: TOOLS.map((name) => ({ name, inputSchema: { type: 'object' } })) });
  } else {
    const {
      name: tool,
      arguments: args,
      _meta,
    } = params as { name: string; arguments: Args; _meta?: { key?: string } };
    const { ok, text } = await carryOut({ id, tool, args, key: _meta?.key });
    answer({ content: [{ type: 'text', text }], isError: !ok });
  }
}

async function onEnvelope(message: Readonly<Record<string, unknown>>): Promise<void> {
  const { type, request_id, tool, args, idempotency_key } = message as Record<string, string> & { args: Args };
  if (type === 'CancelRequest') cancels.get(request_id ?? '')?.();
  if (type !== 'ToolRequest') return;
  const { ok, text } = await carryOut({ id: request_id ?? '', tool: tool ?? '', args, key: idempotency_key });
  const errors = ok ? [] : [{ code: 'E_POLICY', message: text }];
  send({
    type: 'ToolResponse',
    ok,
    tool,
    request_id,
    duration_ms: 0,
    data: ok ? { text } : null,
    errors,
    warnings: [],
  });
}

function serve(receive: (message: Readonly<Record<string, unknown>>) => Promise<void>): void {
  toy.recover();
  let rest = '';
  process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = `${rest}${chunk}`.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) void receive(JSON.parse(line) as Record<string, unknown>);
  });
  process.stdin.on('end', () => toy.shutDown());
}

switch (mode) {
  case 'mcp':
    serve(onMcp);
    break;
  case 'envelopes':
    serve(onEnvelope);
    send({ type: 'SessionAck', session_id: 'toy', accepted: true, server_version: '1', timestamp: 0 });
    break;
  case 'show':
    process.stdout.write(existsSync(toy.journalFile()) ? readFileSync(toy.journalFile()) : '');
    break;
  default:
    process.exitCode = toy.verify() ? 0 : 1;
}
