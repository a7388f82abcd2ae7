/** Node's own WebSocket, the one browsers have: the token is a sub-protocol, and a wire can only be cut from outside. */
import { TOKENS } from '../../open-host.ts';
import { openCutProxy } from '../../wire/cut-proxy.ts';
import { addressOf } from '../../wire/raw-socket.ts';
import { openHostStage } from '../host-stage.ts';
import { connectStream } from '../stream-client.ts';
import type { Transport } from '../transport.ts';
import { WEB_SOCKET_TRAITS } from './web-socket-traits.ts';

export async function nodeWebSocket(): Promise<Transport> {
  const hostStage = await openHostStage();
  const { port } = addressOf(hostStage.host.url) as { port: number };
  const proxies: { close(): Promise<void> }[] = [];
  return {
    traits: WEB_SOCKET_TRAITS,
    traffic: hostStage.traffic,
    stage: hostStage.stage,
    lastEventId: hostStage.lastEventId,
    async close() {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await hostStage.close();
    },
    connect: (options = {}) =>
      connectStream(hostStage, options, async (inbox, token = TOKENS.operator) => {
        const proxy = await openCutProxy(port);
        proxies.push(proxy);
        const protocols = ['tool-runtime.v1', `bearer.${token}`];
        const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}/v1/ws`, protocols);
        socket.addEventListener('message', ({ data }) => inbox.push(String(data)));
        socket.addEventListener('close', ({ code }) => inbox.close(String(code)));
        socket.addEventListener('error', () => inbox.close('error'));
        return {
          write: (bytes) => socket.send(String(bytes)),
          drop: proxy.cut,
          leave: () => socket.close(1000),
        };
      }),
  };
}
