/** A WebSocket on the Unix socket, by the `ws` package; no token, the kernel says who it is. */
import { WebSocket } from 'ws';
import { openHostStage } from '../host-stage.ts';
import { connectStream } from '../stream-client.ts';
import type { Transport } from '../transport.ts';
import { WEB_SOCKET_TRAITS } from './web-socket-traits.ts';

export async function unixWebSocket(): Promise<Transport> {
  const hostStage = await openHostStage();
  return {
    // `ws` sends any bytes as a text frame.
    traits: { ...WEB_SOCKET_TRAITS, sends: 'bytes' },
    traffic: hostStage.traffic,
    stage: hostStage.stage,
    lastEventId: hostStage.lastEventId,
    close: hostStage.close,
    connect: (options = {}) =>
      connectStream(hostStage, options, (inbox, token) => {
        const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
        const socket = new WebSocket(`ws+unix:${hostStage.host.socket}:/v1/ws`, 'tool-runtime.v1', { headers });
        socket.on('message', (data) => inbox.push(String(data)));
        socket.on('close', (code) => inbox.close(String(code)));
        socket.on('error', (error) => inbox.close(error.message));
        return {
          write: (bytes) => socket.send(bytes, { binary: false }),
          drop: () => socket.terminate(),
          leave: () => socket.close(1000),
        };
      }),
  };
}
