import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { holdLock } from './hold-lock.ts';

function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-lock-'));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Holds the lock in another process until killed. */
async function holdElsewhere(path: string) {
  const script = `import { holdLock } from ${JSON.stringify(join(import.meta.dirname, 'hold-lock.ts'))};
    globalThis.held = holdLock(process.argv[1]);
    console.log(globalThis.held === undefined ? 'busy' : 'held');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['-C', 'tool-runtime-source', '--input-type=module', '-e', script, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  const kill = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { said: said.toString().trim(), kill };
}

describe('holdLock', () => {
  test('is refused while another part of this process has it, and given after its release', () => {
    using place = scratch();
    const path = join(place.folder, 'x.lock');
    const first = holdLock(path);
    assert.notEqual(first, undefined);
    assert.equal(holdLock(path), undefined);
    first?.release();
    holdLock(path)?.release();
    assert.deepEqual(readdirSync(place.folder), ['x.lock']);
    assert.equal(statSync(path).mode & 0o777, 0o600);
  });

  test('is refused while another process has it, and free as soon as that one is killed', async () => {
    using place = scratch();
    const path = join(place.folder, 'x.lock');
    const other = await holdElsewhere(path);
    assert.equal(other.said, 'held');
    assert.equal(holdLock(path), undefined);
    await other.kill();
    const mine = holdLock(path);
    assert.notEqual(mine, undefined);
    mine?.release();
  });

  test('is not lost when a second try in the same process fails', async () => {
    using place = scratch();
    const path = join(place.folder, 'x.lock');
    const mine = holdLock(path);
    assert.equal(holdLock(path), undefined);
    const other = await holdElsewhere(path);
    assert.equal(other.said, 'busy');
    await other.kill();
    mine?.release();
  });

  test('follows no link and needs a folder that exists', () => {
    using place = scratch();
    symlinkSync(join(place.folder, 'target'), join(place.folder, 'link'));
    assert.throws(() => holdLock(join(place.folder, 'link')), { code: 'E_POLICY' });
    assert.throws(() => holdLock(join(place.folder, 'missing', 'x.lock')), { code: 'E_FILE_IO' });
    assert.deepEqual(readdirSync(place.folder), ['link']);
  });
});
