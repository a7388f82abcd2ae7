/** A model on loopback that makes the calls it was given, one per turn, and keeps what it is shown of their answers. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Json, ScriptedCall, Wire } from './wire.ts';

export interface ScriptedModel extends AsyncDisposable {
  readonly url: string;
  /** What was shown of the answer to each call. */
  readonly shown: readonly unknown[];
  /** Tools that were asked for and not on offer, with what was. */
  readonly missing: readonly string[];
}

export async function startScriptedModel(wire: Wire, calls: readonly ScriptedCall[]): Promise<ScriptedModel> {
  const shown: unknown[] = [];
  const missing: string[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (request.method !== 'POST' || !wire.paths.test(request.url ?? '')) return void response.writeHead(404).end('{}');
    const asked = JSON.parse(body) as Json;
    const { tools, shown: soFar } = wire.read(asked);
    for (const [at, what] of soFar.entries()) shown[at] = what;
    const events = wire.answer(asked, soFar.length, nextCall(tools, soFar.length));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(events.map(eventText).join(''));
  }

  /** Undefined at the end, and for requests beside the conversation, such as one for a title. */
  function nextCall(tools: readonly string[], turn: number): ScriptedCall | undefined {
    const call = calls[turn];
    if (call === undefined || tools.length === 0) return undefined;
    // Agents have a `grep` of their own.
    const name = tools.find((offered) => /tool[-_]runtime/.test(offered) && offered.endsWith(call.tool));
    if (name === undefined) missing.push(`${call.tool}; on offer: ${tools.join(', ')}`);
    return name === undefined ? undefined : { tool: name, args: call.args };
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((thrown: unknown) => response.writeHead(500).end(String(thrown)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    shown,
    missing,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function eventText(event: Json | string): string {
  if (typeof event === 'string') return `data: ${event}\n\n`;
  const { type } = event;
  return `${typeof type === 'string' ? `event: ${type}\n` : ''}data: ${JSON.stringify(event)}\n\n`;
}
