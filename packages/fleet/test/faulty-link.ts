/** A link between a host and a server that delays, loses and cuts, because not every kernel has `tc netem`. */
import { connect, createServer, type Socket } from 'node:net';

export interface FaultyLink {
  readonly port: number;
  /** Bytes that went through since the start, or were kept back by a cut. */
  readonly figures: { passed: number; held: number };
  /** One way. A lost packet is one that TCP sends again: it comes late, and what follows waits for it. */
  delay(ms: number, loss?: number): void;
  /** What is sent in a cut direction waits, as it would in the buffers of the two machines. */
  cut(direction: 'both' | 'to-host' | 'none'): void;
  close(): Promise<void>;
}

const RESEND_MS = 200;

export async function openFaultyLink(server: number): Promise<FaultyLink> {
  const figures = { passed: 0, held: 0 };
  const state = { ms: 0, loss: 0, cut: 'none' as 'both' | 'to-host' | 'none' };
  const sockets = new Set<Socket>();
  const healed = new Set<() => void>();

  function carry(from: Socket, to: Socket, direction: 'to-host' | 'to-server'): void {
    let last: Promise<void> = Promise.resolve();
    from.on('data', (chunk) => {
      const late = state.ms + (Math.random() < state.loss ? RESEND_MS + state.ms : 0);
      const due = new Promise((resolve) => setTimeout(resolve, late));
      last = last.then(async () => {
        await due;
        while (state.cut === 'both' || state.cut === direction) {
          figures.held += chunk.length;
          await new Promise<void>((resolve) => healed.add(resolve));
        }
        figures.passed += chunk.length;
        to.write(chunk);
      });
    });
    from.on('error', () => to.destroy());
    from.once('close', () => {
      sockets.delete(from);
      to.destroy();
    });
    sockets.add(from);
  }

  const listener = createServer((host) => {
    const far = connect(server, '127.0.0.1');
    carry(host, far, 'to-server');
    carry(far, host, 'to-host');
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const cut: FaultyLink['cut'] = (direction) => {
    state.cut = direction;
    for (const wake of healed) wake();
    healed.clear();
  };
  return {
    port: (listener.address() as { readonly port: number }).port,
    figures,
    delay(ms, loss = 0) {
      Object.assign(state, { ms, loss });
    },
    cut,
    async close() {
      cut('none');
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
