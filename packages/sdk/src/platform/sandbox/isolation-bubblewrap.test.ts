import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import type { SharedNetwork } from '../../contracts/commands.ts';
import { openRoot } from '../descriptors/root.ts';
import { createSpawner } from '../processes/spawner.ts';
import { createBubblewrap } from './isolation-bubblewrap.ts';
import { startSandboxed } from './sandboxed-process.ts';
import { openSharedNetwork } from './session-network.ts';

interface Place {
  readonly workspace: string;
  /** Output of a shell script in the sandbox. */
  run(script: string, hiddenPaths?: readonly string[], network?: SharedNetwork): Promise<string>;
}

function openPlace(t: TestContext): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'bubblewrap-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [workspace, folder] = [join(root, 'workspace'), join(root, 'wall')];
  mkdirSync(workspace);
  mkdirSync(folder, { mode: 0o700 });
  return {
    workspace,
    async run(script, hiddenPaths = [], network) {
      const isolation = createBubblewrap({ spawner: createSpawner(), folder, hiddenPaths });
      assert.equal(await isolation.check(), undefined);
      const root = openRoot(workspace);
      const sandbox = isolation.enter({
        ...{ workspace: root, writable: true, proxySocket: null, protectedPaths: [] },
        ...(network === undefined ? {} : { network }),
      });
      const words = { program: '/bin/sh', args: ['-c', script], env: { PATH: '/usr/bin:/bin' }, cwd: '.' };
      const program = { name: 'sh', confined: sandbox.confine(words) };
      const ends = { stdin: 'null', stdout: 'pipe', stderr: 'pipe' } as const;
      const { process, ended } = await startSandboxed({ spawner: createSpawner(), sandbox }, program, ends);
      const [stdout, stderr] = await Promise.all([process.stdout, process.stderr].map((one) => one && text(one)));
      await ended;
      sandbox.leave();
      root.close();
      assert.equal(stderr, '');
      return stdout ?? '';
    },
  };
}

test('a program has a session of its own: it does not get the terminal of the runtime [S0-36]', async (t) => {
  const { run } = openPlace(t);
  const stat = await run('cat /proc/self/stat');
  const [, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // One that began outside has no number inside.
  assert.notEqual(Number(session), 0);
});

test('what is hidden is not seen in the workspace either; the rest is [S0-36]', async (t) => {
  const { run, workspace } = openPlace(t);
  const state = join(workspace, 'state');
  mkdirSync(state);
  writeFileSync(join(state, 'key'), 'secret');
  writeFileSync(join(workspace, 'file'), 'open');
  assert.equal(await run('cat file; ls state'), 'openkey\n');
  assert.equal(await run('cat file; ls state', [state]), 'open');
});

test('a program does not start in another network than the one it was given [S0-36]', async (t) => {
  const { run } = openPlace(t);
  // Enters nothing, so the sandbox would keep the network of the host.
  const words = ['/usr/bin/env'];
  const network = { words, identity: 'net:[1]', close: () => {} };
  await assert.rejects(run('echo ran', [], network), { code: 'E_POLICY', message: /another network/ });
  const shared = await createShared(t);
  assert.equal(await run('readlink /proc/self/ns/net', [], shared), `${shared.identity}\n`);
});

test('a program with a way out shares no network with others [S0-36]', async (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'bubblewrap-')));
  const socket = join(root, 'proxy');
  const server = createServer().listen(socket);
  await new Promise((resolve) => server.once('listening', resolve));
  const workspace = openRoot(root);
  t.after(() => {
    server.close();
    workspace.close();
    rmSync(root, { recursive: true, force: true });
  });
  const isolation = createBubblewrap({ spawner: createSpawner(), folder: root });
  assert.equal(await isolation.check(), undefined);
  const started = (proxySocket: string | null) => {
    const network = { words: ['/enter'], identity: 'net:[1]', close: () => {} };
    const sandbox = isolation.enter({ workspace, writable: true, protectedPaths: [], proxySocket, network });
    const { program, args } = sandbox.confine({ program: '/bin/sh', args: [], env: {}, cwd: '.' });
    sandbox.leave();
    return [program === '/enter', args.includes('--share-net')];
  };
  assert.deepEqual(started(socket), [false, false]);
  assert.deepEqual(started(null), [true, true]);
});

async function createShared(t: TestContext): Promise<SharedNetwork> {
  const shared = await openSharedNetwork(createSpawner(), '/usr/bin/bwrap');
  assert.ok(shared !== undefined);
  t.after(() => shared.close());
  return shared;
}
