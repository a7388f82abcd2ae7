import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadNativeCalls } from './native-calls.ts';
import { nativeRename, plainRename, type Rename } from './rename-entry.ts';

const OTHER_DEVICE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const ROUNDS = 300;

const native = loadNativeCalls();
const RENAMES: Record<string, Rename> = native
  ? { native: nativeRename(native), plain: plainRename }
  : { plain: plainRename };

function scratch(t: TestContext, place = tmpdir()): { directory: string; dirFd: number } {
  const directory = mkdtempSync(join(place, 'rename-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return { directory, dirFd: openSync(directory, 'r') };
}

for (const [kind, rename] of Object.entries(RENAMES)) {
  test(`${kind}: a taken name is EEXIST whatever has it, and nothing moves; a free one is taken [S0-27]`, (t) => {
    const { directory, dirFd } = scratch(t);
    const entry = (name: string) => ({ dirFd, name });
    mkdirSync(join(directory, 'folder'));
    mkdirSync(join(directory, 'empty'));
    writeFileSync(join(directory, 'file'), 'x');
    writeFileSync(join(directory, 'other'), 'y');
    symlinkSync('file', join(directory, 'link'));
    const names = readdirSync(directory).sort();
    for (const from of names) {
      for (const to of names) {
        if (from !== to)
          assert.throws(() => rename(entry(from), entry(to), 'noreplace'), { code: 'EEXIST' }, `${from} ${to}`);
      }
      assert.throws(() => rename(entry('missing'), entry(from), 'noreplace'));
    }
    assert.deepEqual(readdirSync(directory).sort(), names);
    for (const from of names) rename(entry(from), entry(`new-${from}`), 'noreplace');
    assert.deepEqual(readdirSync(directory).sort(), names.map((name) => `new-${name}`).sort());
    assert.equal(readFileSync(join(directory, 'new-other'), 'utf8'), 'y');
  });

  test(`${kind}: a rename that cannot be done leaves neither name changed [S0-27]`, (t) => {
    const { directory, dirFd } = scratch(t);
    const far = scratch(t, OTHER_DEVICE);
    mkdirSync(join(directory, 'folder/inner'), { recursive: true });
    const folder = { dirFd, name: 'folder' };
    const inside = { dirFd: openSync(join(directory, 'folder/inner'), 'r'), name: 'new' };
    assert.throws(() => rename(folder, inside, 'noreplace'), { code: 'EINVAL' });
    assert.deepEqual(readdirSync(join(directory, 'folder/inner')), []);
    if (statSync(directory).dev !== statSync(far.directory).dev) {
      assert.throws(() => rename(folder, { dirFd: far.dirFd, name: 'new' }, 'noreplace'), { code: 'EXDEV' });
      assert.deepEqual(readdirSync(far.directory), []);
    }
    rename(folder, { dirFd, name: 'new' }, 'noreplace');
    assert.deepEqual(readdirSync(directory), ['new']);
  });

  test(`${kind}: of two processes that give empty folders one name, exactly one does [S0-27]`, async (t) => {
    const { directory } = scratch(t);
    const platform = new URL('.', import.meta.url).href;
    const script = `
      import { mkdirSync, openSync } from 'node:fs';
      const [directory, platform, kind, me] = process.argv.slice(1);
      const { nativeRename, plainRename } = await import(platform + 'rename-entry.ts');
      const { loadNativeCalls } = await import(platform + 'native-calls.ts');
      const rename = kind === 'plain' ? plainRename : nativeRename(loadNativeCalls());
      const dirFd = openSync(directory, 'r');
      for (let round = 0; round < ${ROUNDS}; round++) mkdirSync(directory + '/' + me + round);
      process.stdout.write('ready');
      for await (const _ of process.stdin) break;
      let won = 0;
      for (let round = 0; round < ${ROUNDS}; round++) {
        try {
          rename({ dirFd, name: me + round }, { dirFd, name: 'to' + round }, 'noreplace');
          won += 1;
        } catch (thrown) {
          if (thrown.code !== 'EEXIST') throw thrown;
        }
      }
      process.stdout.write(String(won));
      process.exit();`;
    const racers = ['a', 'b'].map((me) =>
      spawn(
        process.execPath,
        ['-C', 'tool-runtime-source', '--input-type=module', '-e', script, directory, platform, kind, me],
        {
          stdio: ['pipe', 'pipe', 'inherit'],
        },
      ),
    );
    await Promise.all(racers.map((racer) => once(racer.stdout, 'data')));
    const wins = racers.map((racer) => once(racer.stdout, 'data').then(([won]) => Number(String(won))));
    for (const racer of racers) racer.stdin.write('go');
    const [one = 0, two = 0] = await Promise.all(wins);
    await Promise.all(racers.map((racer) => racer.exitCode ?? once(racer, 'exit')));
    t.diagnostic(`${one} against ${two}`);
    assert.equal(one + two, ROUNDS);
    assert.equal(readdirSync(directory).length, 2 * ROUNDS);
  });
}
