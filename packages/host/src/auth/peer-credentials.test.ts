import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { SCOPES } from '@tool-runtime/protocol';
import { createPeerReader, peerPrincipal } from './peer-credentials.ts';

const OWN_UID = process.geteuid?.() ?? -1;
const OTHER_UID = 12_345;

/** A socket everybody may connect to, so that only the credentials decide. */
async function openServer() {
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-peer-'));
  chmodSync(folder, 0o755);
  const path = join(folder, 'open.sock');
  const server = createServer().listen(path);
  await once(server, 'listening');
  chmodSync(path, 0o666);
  const close = () => {
    server.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { server, path, [Symbol.dispose]: close };
}

async function accepted(server: Server): Promise<Socket> {
  const [socket] = (await once(server, 'connection')) as [Socket];
  return socket;
}

const CLIENT = 'const socket = require("node:net").connect(process.argv[1]); socket.on("close", () => process.exit());';

describe('peerOf', () => {
  test('reports process, user and group of the client', async () => {
    using place = await openServer();
    const child = spawn(process.execPath, ['-e', CLIENT, place.path]);
    const socket = await accepted(place.server);
    const peer = createPeerReader().peerOf(socket);
    assert.deepEqual(peer, { pid: child.pid, uid: OWN_UID, gid: process.getegid?.() });
    socket.destroy();
    await once(child, 'exit');
  });

  test('tells the listening process to the one that connects', async () => {
    using place = await openServer();
    const socket = connect(place.path);
    await once(socket, 'connect');
    assert.equal(createPeerReader().peerOf(socket)?.pid, process.pid);
    socket.destroy();
  });

  test('tells nothing about a closed socket or one of the network', async () => {
    using place = await openServer();
    const client = connect(place.path);
    const socket = await accepted(place.server);
    const { peerOf } = createPeerReader();
    assert.notEqual(peerOf(socket), undefined);
    socket.destroy();
    client.destroy();
    assert.equal(peerOf(socket), undefined);

    const network = createServer().listen(0, '127.0.0.1');
    await once(network, 'listening');
    const { port } = network.address() as { port: number };
    const remote = connect(port, '127.0.0.1');
    const local = await accepted(network);
    assert.equal(peerOf(local), undefined);
    remote.destroy();
    local.destroy();
    network.close();
  });
});

describe('peerPrincipal', () => {
  test('is the user the host runs as, with all scopes', async () => {
    using place = await openServer();
    const client = connect(place.path);
    const socket = await accepted(place.server);
    const id = `uid:${OWN_UID}`;
    const owner = { id, name: id, scopes: new Set(SCOPES), isOwner: true };
    assert.deepEqual(peerPrincipal(createPeerReader().peerOf(socket)), owner);
    client.destroy();
    socket.destroy();
  });

  test('is nobody for another user, for root of another and where it cannot be told', () => {
    for (const uid of [OWN_UID + 1, OWN_UID === 0 ? 1 : 0, 65_534]) {
      assert.equal(peerPrincipal({ uid, gid: 0, pid: 1 }), undefined);
    }
    assert.equal(peerPrincipal(undefined), undefined);
    assert.notEqual(peerPrincipal({ uid: OWN_UID, gid: 0, pid: 1 }), undefined);
  });

  test('refuses a real process of another user', async () => {
    using place = await openServer();
    // Only root may become somebody else; everybody else takes the part of the other user towards a host of root's.
    const asOther = OWN_UID === 0 ? ['setpriv', `--reuid=${OTHER_UID}`, '--clear-groups'] : ['env'];
    const [program = '', ...options] = asOther;
    const child = spawn(program, [...options, process.execPath, '-e', CLIENT, place.path], { stdio: 'inherit' });
    const socket = await accepted(place.server);
    const peer = createPeerReader().peerOf(socket);
    assert.equal(peer?.uid, OWN_UID === 0 ? OTHER_UID : OWN_UID);
    assert.equal(peerPrincipal(peer) === undefined, OWN_UID === 0);
    socket.destroy();
    await once(child, 'exit');
  });
});
