/** HTTP/1.1 by hand on TCP: every request on a connection of its own, the chunks of the event stream taken apart. */
import { TOKENS } from '../../open-host.ts';
import { readAnswer, readAnswerHead, takeChunk, writeRequest } from '../../wire/raw-http.ts';
import { addressOf, openSocket, type RawSocket } from '../../wire/raw-socket.ts';
import { openHostStage } from '../host-stage.ts';
import { connectByRequests, type HttpRequest, type HttpWire } from '../request-client.ts';
import type { Transport } from '../transport.ts';
import { HTTP_TRAITS } from './http-traits.ts';

export async function rawRequests(): Promise<Transport> {
  const hostStage = await openHostStage();
  return {
    traits: HTTP_TRAITS,
    traffic: hostStage.traffic,
    stage: hostStage.stage,
    lastEventId: hostStage.lastEventId,
    close: hostStage.close,
    connect: (options = {}) =>
      connectByRequests(hostStage, { ...options, token: TOKENS.operator }, createWire(hostStage.host.url)),
  };
}

function createWire(url: string): HttpWire {
  const sockets = new Set<RawSocket>();
  async function send({ method, path, token, headers = {}, body }: HttpRequest): Promise<RawSocket> {
    const socket = await openSocket(addressOf(url));
    sockets.add(socket);
    socket.socket.once('close', () => sockets.delete(socket));
    socket.write(
      writeRequest({
        method,
        target: path,
        host: new URL(url).host,
        ...(token === undefined ? {} : { token }),
        headers: Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        ...(body === undefined ? {} : { body }),
      }),
    );
    return socket;
  }
  return {
    async ask(request) {
      using socket = await send(request);
      const { status, body } = await readAnswer(socket, request.method);
      return { status, text: body.toString('utf8') };
    },
    async follow(request, onText) {
      const socket = await send(request);
      const { status } = await readAnswerHead(socket);
      void readChunks(socket, onText);
      return { status, stop: socket.cut };
    },
    drop() {
      for (const socket of sockets) socket.cut();
    },
  };
}

async function readChunks(socket: RawSocket, onText: (text: string) => void): Promise<void> {
  try {
    for (;;) {
      const content = await socket.next((bytes) => {
        const chunk = takeChunk(bytes);
        return chunk === undefined ? undefined : [chunk.content, chunk.used];
      }, 'a chunk');
      if (content.length === 0) return;
      onText(content.toString('utf8'));
    }
  } catch {
    // Cut by us, or ended by the host: either way no more comes.
  }
}
