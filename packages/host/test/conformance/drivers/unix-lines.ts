/** JSON lines on a Unix socket, by a bare socket. The kernel says who it is. */
import { createInterface } from 'node:readline';
import { openSocket } from '../../wire/raw-socket.ts';
import { openHostStage } from '../host-stage.ts';
import { connectStream } from '../stream-client.ts';
import type { Transport } from '../transport.ts';

export async function unixLines(): Promise<Transport> {
  const hostStage = await openHostStage();
  return {
    traits: {
      greeting: 'acknowledgement',
      streams: 'one',
      return: 'attach',
      beats: 'heartbeats',
      sends: 'bytes',
      badBytes: 'refusal',
      farTooLarge: 'refusal',
      tokens: 'none',
      approvals: 'answered',
      many: 200,
      patienceMs: 1000,
    },
    traffic: hostStage.traffic,
    stage: hostStage.stage,
    lastEventId: hostStage.lastEventId,
    close: hostStage.close,
    connect: (options = {}) =>
      connectStream(hostStage, options, async (inbox) => {
        const raw = await openSocket({ path: hostStage.host.socket });
        createInterface({ input: raw.socket }).on('line', inbox.push);
        raw.socket.once('close', () => inbox.close());
        raw.socket.once('end', () => inbox.close('ended'));
        raw.write('\n');
        return {
          write: (bytes) => raw.write(Buffer.concat([Buffer.from(bytes), Buffer.from('\n')])),
          drop: raw.cut,
          leave: raw.end,
        };
      }),
  };
}
