/** Two listeners on loopback: one that calls may reach, which counts what it gets, and one that no call may reach. */
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server } from 'node:net';

export interface LoopbackServers {
  readonly allowedPort: number;
  readonly canaryPort: number;
  /** Last word of the path → how often it was asked for. */
  readonly hits: ReadonlyMap<string, number>;
  close(): void;
}

export async function openLoopbackServers(onCanary: (words: string) => void): Promise<LoopbackServers> {
  const hits = new Map<string, number>();
  const canary = createNetServer((socket) => {
    onCanary(`somebody connected to the forbidden port from ${socket.remotePort}`);
    socket.destroy();
  });
  const canaryPort = await listen(canary);
  const allowed = createServer((request, response) => {
    const [, verb, word = ''] = (request.url ?? '').split('/');
    request.resume();
    if (verb === 'effect') hits.set(word, (hits.get(word) ?? 0) + 1);
    if (verb === 'leave') response.writeHead(302, { location: `http://127.0.0.1:${canaryPort}/` });
    setTimeout(() => response.end(`${word}\n`), verb === 'slow' ? 400 : 0);
  });
  const allowedPort = await listen(allowed);
  return {
    allowedPort,
    canaryPort,
    hits,
    close() {
      canary.close();
      allowed.close();
      allowed.closeAllConnections();
    },
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}
