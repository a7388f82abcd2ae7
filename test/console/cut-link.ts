/** The way of a browser to the host, which can be cut: a SOCKS proxy. What Chromium calls offline leaves open streams alone. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface CutLink {
  /** For the browser. */
  readonly proxy: string;
  /** Ends all connections; new ones are refused until `heal`. */
  cut(): void;
  heal(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

const NO_PASSWORD = Buffer.from([5, 0]);
const CONNECTED = Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);

export async function openCutLink(): Promise<CutLink> {
  const open = new Set<Socket>();
  let isCut = false;

  function keep(socket: Socket, other: () => Socket | undefined): void {
    open.add(socket);
    socket.on('error', () => other()?.destroy());
    socket.on('close', () => {
      open.delete(socket);
      other()?.destroy();
    });
  }

  const server = createServer((browser) => {
    if (isCut) {
      browser.destroy();
      return;
    }
    let host: Socket | undefined;
    keep(browser, () => host);
    browser.once('data', () => {
      browser.write(NO_PASSWORD);
      browser.once('data', (request: Buffer) => {
        host = connect(request.readUInt16BE(request.length - 2), '127.0.0.1');
        keep(host, () => browser);
        host.once('connect', () => {
          browser.write(CONNECTED);
          browser.pipe(host as Socket).pipe(browser);
        });
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    proxy: `socks5://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut() {
      isCut = true;
      for (const socket of open) socket.destroy();
    },
    heal() {
      isCut = false;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
