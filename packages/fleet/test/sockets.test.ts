/** The call bus of a single host is a socket: the suite that tunnels pass, over a Unix socket. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { callBusSuite } from './suites/call-bus-suite.ts';

callBusSuite('Unix sockets', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'call-bus-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const address = path.join(folder, 'host.sock');
  return {
    async serve(accept) {
      const sockets = new Set<Socket>();
      const server = createServer((socket) => {
        sockets.add(socket);
        accept(socket);
      });
      await new Promise<void>((resolve) => server.listen(address, resolve));
      return {
        async stop() {
          const closed = new Promise((resolve) => server.close(resolve));
          for (const socket of sockets) socket.destroy();
          await closed;
        },
      };
    },
    open: () => connect(address),
  };
});
