/** WebSocket frames by hand on TCP: handshake, masks, pings and the goodbye are all written out. */
import assert from 'node:assert/strict';
import { TOKENS } from '../../open-host.ts';
import { addressOf, type RawSocket } from '../../wire/raw-socket.ts';
import { nextFrame, OPCODES, upgrade, writeFrame } from '../../wire/raw-web-socket.ts';
import { openHostStage } from '../host-stage.ts';
import type { Inbox } from '../inbox.ts';
import { connectStream } from '../stream-client.ts';
import type { Transport } from '../transport.ts';
import { WEB_SOCKET_TRAITS } from './web-socket-traits.ts';

export async function rawFrames(): Promise<Transport> {
  const hostStage = await openHostStage();
  const address = addressOf(hostStage.host.url);
  return {
    traits: { ...WEB_SOCKET_TRAITS, sends: 'bytes' },
    traffic: hostStage.traffic,
    stage: hostStage.stage,
    lastEventId: hostStage.lastEventId,
    close: hostStage.close,
    connect: (options = {}) =>
      connectStream(hostStage, options, async (inbox, token = TOKENS.operator) => {
        const host = new URL(hostStage.host.url).host;
        const { socket, answer } = await upgrade(address, { host, token });
        assert.equal(answer.status, 101);
        void readFrames(socket, inbox);
        return {
          write: (bytes) => socket.write(writeFrame(bytes)),
          drop: socket.cut,
          leave: () => socket.write(writeFrame(Buffer.of(0x03, 0xe8), { opcode: OPCODES.close })),
        };
      }),
  };
}

async function readFrames(socket: RawSocket, inbox: Inbox): Promise<void> {
  try {
    for (;;) {
      const { opcode, payload, isFinal } = await nextFrame(socket);
      assert.ok(isFinal);
      if (opcode === OPCODES.text) inbox.push(payload.toString('utf8'));
      else if (opcode === OPCODES.ping) socket.write(writeFrame(payload, { opcode: OPCODES.pong }));
      else if (opcode === OPCODES.close) return inbox.close(String(payload.readUInt16BE(0)));
    }
  } catch (thrown) {
    inbox.close(String(thrown));
  }
}
