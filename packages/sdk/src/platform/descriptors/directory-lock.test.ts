import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, constants, mkdirSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { DIRECTORY_HANDLE } from '../open-flags.ts';
import { createDirectoryLock } from './directory-lock.ts';
import { loadNativeCalls } from './native-calls.ts';

function openScratch(t: TestContext): { path: string; dirFd: number } {
  const path = mkdtempSync(join(tmpdir(), 'directory-lock-'));
  const dirFd = openSync(path, DIRECTORY_HANDLE);
  t.after(() => {
    closeSync(dirFd);
    rmSync(path, { recursive: true });
  });
  return { path, dirFd };
}

function gate() {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

for (const [kind, native] of [
  ['flock', loadNativeCalls()],
  ['lock file', undefined],
] as const) {
  describe(`the lock of a directory by ${kind} [S0-31]`, () => {
    test('costs no promise when it is free, and is free again afterwards', (t) => {
      const { dirFd } = openScratch(t);
      const lock = createDirectoryLock(native);
      for (let round = 0; round < 3; round++)
        assert.equal(
          lock.run(dirFd, () => round),
          round,
        );
      assert.throws(() => lock.run(dirFd, () => assert.fail('inside')), { message: 'inside' });
      assert.equal(
        lock.run(dirFd, () => 'free'),
        'free',
      );
    });

    test('lets one in at a time, in this process too, without blocking it', async (t) => {
      const { dirFd } = openScratch(t);
      const lock = createDirectoryLock(native);
      let inside = 0;
      let most = 0;
      const visit = async () => {
        inside += 1;
        most = Math.max(most, inside);
        await new Promise((resolve) => setTimeout(resolve, 2));
        inside -= 1;
      };
      await Promise.all(Array.from({ length: 8 }, () => lock.run(dirFd, visit)));
      assert.deepEqual([inside, most], [0, 1]);
    });

    test('is given up after a while with E_TIMEOUT, and the action is not run', async (t) => {
      const { dirFd } = openScratch(t);
      const { open, opened } = gate();
      const holder = createDirectoryLock(native).run(dirFd, () => opened);
      const waiting = createDirectoryLock(native, { waitMs: 30 }).run(dirFd, () => assert.fail('must not run'));
      await assert.rejects(async () => waiting, { code: 'E_TIMEOUT' });
      open();
      await holder;
      assert.equal(
        createDirectoryLock(native, { waitMs: 0 }).run(dirFd, () => 1),
        1,
      );
    });

    test('is free when its holder is killed', async (t) => {
      const { path, dirFd } = openScratch(t);
      const program = `
        import { openSync } from 'node:fs';
        import { createDirectoryLock } from ${JSON.stringify(join(import.meta.dirname, 'directory-lock.ts'))};
        import { loadNativeCalls } from ${JSON.stringify(join(import.meta.dirname, 'native-calls.ts'))};
        const fd = openSync(process.argv[1], ${DIRECTORY_HANDLE});
        const native = process.argv[2] === 'flock' ? loadNativeCalls() : undefined;
        // Reachable, or a garbage collection would end the wait and close the lock with it.
        globalThis.forever = new Promise(() => setInterval(() => {}, 1000));
        createDirectoryLock(native).run(fd, () => globalThis.forever);
        process.stdout.write('locked');
      `;
      const child = spawn(
        process.execPath,
        ['-C', 'tool-runtime-source', '--input-type=module', '-e', program, path, kind],
        {
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      await once(child.stdout, 'data');
      const early = createDirectoryLock(native, { waitMs: 0 }).run(dirFd, () => assert.fail('must not run'));
      await assert.rejects(async () => early, { code: 'E_TIMEOUT' });
      child.kill('SIGKILL');
      await once(child, 'exit');
      assert.equal(await createDirectoryLock(native).run(dirFd, () => 'free'), 'free');
    });
  });
}

test('two folders do not wait for each other [S0-31]', async (t) => {
  const native = loadNativeCalls();
  const [one, other] = [openScratch(t), openScratch(t)];
  const { open, opened } = gate();
  const holder = createDirectoryLock(native).run(one.dirFd, () => opened);
  assert.equal(
    createDirectoryLock(native).run(other.dirFd, () => 'free'),
    'free',
  );
  open();
  await holder;
});

test('a file system without such locks gets the other kind [S0-31]', async (t) => {
  const { dirFd } = openScratch(t);
  const native = loadNativeCalls();
  assert.ok(native !== undefined);
  const unable = { ...native, flock: () => -constants.O_RDONLY - 95 };
  const { open, opened } = gate();
  const holder = createDirectoryLock(unable).run(dirFd, () => opened);
  const waiting = createDirectoryLock(undefined, { waitMs: 0 }).run(dirFd, () => assert.fail('must not run'));
  await assert.rejects(async () => waiting, { code: 'E_TIMEOUT' });
  open();
  await holder;
});

test('a lock folder that others may enter is not used [S0-31]', (t) => {
  const { path, dirFd } = openScratch(t);
  const before = process.env['TMPDIR'];
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  });
  process.env['TMPDIR'] = path;
  const folder = join(path, `tool-runtime-locks-${process.geteuid?.()}`);
  mkdirSync(folder);
  chmodSync(folder, 0o755);
  assert.throws(() => createDirectoryLock(undefined).run(dirFd, () => 1), { code: 'E_POLICY' });
  chmodSync(folder, 0o700);
  assert.equal(
    createDirectoryLock(undefined).run(dirFd, () => 1),
    1,
  );
});
