import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer, get } from 'node:http';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { SCOPES } from '@tool-runtime/protocol';
import { createPeerReader, listenUnix, peerPrincipal } from './listen-unix.ts';

function scratch() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tr-unix-')));
  return {
    folder,
    path: join(folder, 'h.sock'),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The way a killed process does. */
async function leaveSocket(path: string): Promise<void> {
  const script = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
  await once(spawn(process.execPath, ['-e', script, path], { stdio: 'inherit' }), 'exit');
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path);
  const answer = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return answer;
}

/** A process whose queue of connections is full: it listens and never looks. */
async function listenWithoutAccepting(path: string) {
  const sleep = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)';
  const script = `require('node:net').createServer().listen({ path: process.argv[1], backlog: 1 }, () => {
    require('node:fs').writeSync(1, 'ready');
    ${sleep};
  })`;
  const child = spawn(process.execPath, ['-e', script, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const sockets: Socket[] = [];
  for (let isFull = false; !isFull; ) {
    const socket = connect(path);
    sockets.push(socket);
    isFull = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(false));
      socket.once('error', () => resolve(true));
    });
  }
  return {
    async end(): Promise<void> {
      for (const socket of sockets) socket.destroy();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

describe('listenUnix', () => {
  test('listens on a socket only this user can reach, whatever the umask, and takes it away again', async () => {
    using place = scratch();
    const mask = process.umask(0);
    try {
      const server = createHttpServer((_, response) => response.end('hello'));
      const path = join(place.folder, 'made', 'h.sock');
      const listener = await listenUnix(server, path);
      assert.equal(listener.path, path);
      assert.equal(lstatSync(path).mode & 0o777, 0o600);
      assert.equal(lstatSync(join(place.folder, 'made')).mode & 0o777, 0o700);
      assert.equal(process.umask(), 0);
      assert.deepEqual(readdirSync(join(place.folder, 'made')), ['h.sock']);
      const [response] = await once(get({ socketPath: path, agent: false }), 'response');
      assert.equal(Buffer.concat(await response.toArray()).toString(), 'hello');
      listener.release();
      assert.deepEqual(readdirSync(join(place.folder, 'made')), []);
      listener.release();
      server.close();
    } finally {
      process.umask(mask);
    }
  });

  test('is bound with its mode before listen returns, which the narrow umask relies on', () => {
    using place = scratch();
    const mask = process.umask(0o177);
    const server = createServer();
    try {
      server.listen(place.path);
      assert.equal(lstatSync(place.path).mode & 0o777, 0o600);
    } finally {
      process.umask(mask);
      server.close();
    }
  });

  test('removes what a dead process left', async () => {
    using place = scratch();
    await leaveSocket(place.path);
    assert.ok(lstatSync(place.path).isSocket());
    const server = createServer();
    const listener = await listenUnix(server, place.path);
    assert.ok(await answers(place.path));
    assert.deepEqual(readdirSync(place.folder), ['h.sock']);
    listener.release();
    server.close();
  });

  test('refuses a socket that is in use and names the process', async () => {
    using place = scratch();
    const [first, second] = [createServer(), createServer()];
    const listener = await listenUnix(first, place.path);
    await assert.rejects(listenUnix(second, place.path, createPeerReader()), {
      code: 'E_POLICY',
      message: `Socket is in use by process ${process.pid}: ${place.path}`,
    });
    await assert.rejects(listenUnix(second, place.path), { message: /in use by another process/ });
    assert.equal(second.listening, false);
    assert.ok(await answers(place.path));
    listener.release();
    first.close();
    const next = await listenUnix(second, place.path);
    next.release();
    second.close();
  });

  test('takes a full queue for a listener, and not for a leftover', async () => {
    using place = scratch();
    const busy = await listenWithoutAccepting(place.path);
    const server = createServer();
    try {
      await assert.rejects(listenUnix(server, place.path), { message: /in use by another process/ });
      assert.ok(lstatSync(place.path).isSocket());
    } finally {
      await busy.end();
    }
    const listener = await listenUnix(server, place.path);
    listener.release();
    server.close();
  });

  test('leaves the path to the process that has it by then', async () => {
    using place = scratch();
    const [first, second] = [createServer(), createServer()];
    const listener = await listenUnix(first, place.path);
    rmSync(place.path);
    const other = await listenUnix(second, place.path);
    listener.release();
    first.close();
    await once(first, 'close');
    assert.ok(await answers(place.path));
    other.release();
    assert.equal(existsSync(place.path), false);
    second.close();
  });

  test('never removes what is no socket', async () => {
    using place = scratch();
    const server = createServer();
    writeFileSync(place.path, 'precious');
    await assert.rejects(listenUnix(server, place.path), { message: /no socket/ });
    assert.equal(readFileSync(place.path, 'utf8'), 'precious');
    rmSync(place.path);

    const target = join(place.folder, 'target.sock');
    await leaveSocket(target);
    symlinkSync(target, place.path);
    await assert.rejects(listenUnix(server, place.path), { message: /no socket/ });
    assert.ok(lstatSync(place.path).isSymbolicLink() && existsSync(target));
    rmSync(place.path);
    mkdirSync(place.path);
    await assert.rejects(listenUnix(server, place.path), { message: /no socket/ });
    assert.equal(server.listening, false);
  });

  test('refuses folders others may change, but not sticky ones', async () => {
    using place = scratch();
    const folder = join(place.folder, 'a', 'b');
    mkdirSync(folder, { recursive: true });
    const path = join(folder, 'h.sock');
    const attempt = async () => {
      const server = createServer();
      const listener = await listenUnix(server, path);
      listener.release();
      server.close();
    };
    await attempt();
    for (const unsafe of [folder, join(place.folder, 'a')]) {
      for (const mode of [0o777, 0o770, 0o702]) {
        chmodSync(unsafe, mode);
        await assert.rejects(attempt(), {
          code: 'E_POLICY',
          message: `Others may write in a folder of the socket: ${unsafe}`,
        });
      }
      chmodSync(unsafe, 0o1777);
      await attempt();
      chmodSync(unsafe, 0o755);
    }
    if (process.geteuid?.() === 0) {
      for (const owner of [12_345, 65_534]) {
        chownSync(folder, owner, owner);
        await assert.rejects(attempt(), { message: /belongs to another user/ });
      }
      chownSync(folder, 0, 0);
    }
    await attempt();
  });

  test('takes paths as long as an address holds, and no longer', async () => {
    using place = scratch();
    const limit = process.platform === 'linux' ? 107 : 103;
    const pathOf = (length: number) => join(place.folder, 'x'.repeat(length - place.folder.length - 1));
    const server = createServer();
    await assert.rejects(listenUnix(server, pathOf(limit + 1)), {
      message: `Socket path is longer than ${limit} bytes`,
    });
    const folder = join(place.folder, 'y'.repeat(limit - place.folder.length - 10));
    await assert.rejects(
      listenUnix(server, join(folder, 's')),
      { message: /longer than/ },
      'no room for the name it is made under',
    );
    const listener = await listenUnix(server, pathOf(limit));
    assert.ok(await answers(pathOf(limit)));
    listener.release();
    server.close();
  });
});

const OWN_UID = process.geteuid?.() ?? -1;
const OTHER_UID = 12_345;

/** A socket that every user may connect to, so that only the credentials decide. */
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

  test('is undefined for another user, for root of another namespace, and where it is unknown', () => {
    for (const uid of [OWN_UID + 1, OWN_UID === 0 ? 1 : 0, 65_534]) {
      assert.equal(peerPrincipal({ uid, gid: 0, pid: 1 }), undefined);
    }
    assert.equal(peerPrincipal(undefined), undefined);
    assert.notEqual(peerPrincipal({ uid: OWN_UID, gid: 0, pid: 1 }), undefined);
  });

  test('refuses a real process of another user', async () => {
    using place = await openServer();
    // Only root may become another user; otherwise the test plays the other user of a host that root runs.
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
