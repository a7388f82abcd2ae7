import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { openBase } from '../descriptors/held-path.ts';
import { keepOriginal, readRunFile, writeResultAtomic } from './run-result-file.ts';

function scene(t: TestContext) {
  const parent = mkdtempSync(join(tmpdir(), 'result-'));
  const path = join(parent, 'run');
  mkdirSync(path);
  const dirFd = openBase(path);
  t.after(() => {
    closeSync(dirFd);
    rmSync(parent, { recursive: true, force: true });
  });
  return { folder: { dirFd }, path, at: (name: string) => join(path, name), outside: join(parent, 'outside') };
}
const text = (path: string) => readFileSync(path, 'utf8');
const notRegular = (thrown: unknown) => isToolError(thrown) && thrown.code === 'E_POLICY';

test('a result is written with mode 0644, replaces the old one and leaves no other file [S4-19]', (t) => {
  const { folder, path, at } = scene(t);
  const umask = process.umask(0o077);
  t.after(() => process.umask(umask));
  writeResultAtomic(folder, 'one');
  writeResultAtomic(folder, 'two');
  assert.equal(text(at('result.json')), 'two');
  assert.equal(statSync(at('result.json')).mode & 0o777, 0o644);
  assert.deepEqual(readdirSync(path), ['result.json']);
});

test('a result is a new file: one opened before keeps the old text [S4-19]', (t) => {
  const { folder, at } = scene(t);
  writeResultAtomic(folder, 'one');
  const reader = openSync(at('result.json'), 'r');
  writeResultAtomic(folder, 'two');
  assert.equal(readFileSync(reader, 'utf8'), 'one');
  closeSync(reader);
});

test('a link in the place of the result is refused and what it names stays [S4-19]', (t) => {
  const { folder, path, at, outside } = scene(t);
  writeFileSync(outside, 'precious');
  for (const target of [outside, 'nowhere', 'result.json']) {
    symlinkSync(target, at('result.json'));
    assert.throws(() => writeResultAtomic(folder, 'new'), notRegular);
    assert.equal(readlinkSync(at('result.json')), target);
    rmSync(at('result.json'));
  }
  assert.equal(text(outside), 'precious');
  assert.deepEqual(readdirSync(path), []);
});

test('a folder and a pipe in the place of the result are refused [S4-19]', (t) => {
  const { folder, at, path } = scene(t);
  mkdirSync(at('result.json'));
  assert.throws(() => writeResultAtomic(folder, 'new'), notRegular);
  rmSync(at('result.json'), { recursive: true });
  execFileSync('mkfifo', [at('result.json')]);
  assert.throws(() => writeResultAtomic(folder, 'new'), notRegular);
  assert.deepEqual(readdirSync(path), ['result.json']);
});

test('a second name of the old result keeps the old text [S4-19]', (t) => {
  const { folder, at, outside } = scene(t);
  writeFileSync(outside, 'precious');
  linkSync(outside, at('result.json'));
  writeResultAtomic(folder, 'new');
  assert.equal(text(outside), 'precious');
  assert.equal(text(at('result.json')), 'new');
});

test('a write that fails half way leaves the old result and no other file [S4-19]', (t) => {
  const { path, at } = scene(t);
  writeFileSync(at('result.json'), 'old');
  const child = `
    const { openBase } = await import(process.argv[1] + '../descriptors/held-path.ts');
    const { writeResultAtomic } = await import(process.argv[1] + 'run-result-file.ts');
    try {
      writeResultAtomic({ dirFd: openBase(process.argv[2]) }, 'x'.repeat(1 << 20));
    } catch (thrown) {
      console.log(thrown.code, thrown.details.reason);
    }`;
  // A limit on the size of files that answers with an error instead of a signal.
  const limited = `trap '' XFSZ; ulimit -f 8; exec "$@"`;
  const node = [process.execPath, '-C', 'tool-runtime-source', '--input-type=module', '-e', child];
  const sources = new URL('./', import.meta.url).href;
  const { stdout } = spawnSync('sh', ['-c', limited, 'sh', ...node, sources, path], { encoding: 'utf8' });
  assert.equal(stdout, 'E_FILE_IO EFBIG\n');
  assert.equal(text(at('result.json')), 'old');
  assert.deepEqual(readdirSync(path), ['result.json']);
});

test('a folder the tool has closed or renamed is still written to [S4-19]', (t) => {
  const { folder, path, at, outside } = scene(t);
  chmodSync(path, 0o000);
  writeResultAtomic(folder, 'one');
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.equal(text(at('result.json')), 'one');
  mkdirSync(outside);
  execFileSync('mv', [path, `${path}-moved`]);
  symlinkSync(outside, path);
  writeResultAtomic(folder, 'two');
  assert.deepEqual(readdirSync(outside), []);
  assert.equal(text(join(`${path}-moved`, 'result.json')), 'two');
});

test('a file is read up to its limit [S4-20 S4-40]', (t) => {
  const { folder, at } = scene(t);
  assert.equal(readRunFile(folder, 'result.json', 10), 'missing');
  writeFileSync(at('result.json'), '0123456789');
  assert.deepEqual(readRunFile(folder, 'result.json', 10), Buffer.from('0123456789'));
  assert.equal(readRunFile(folder, 'result.json', 9), 'too_large');
  truncateSync(at('result.json'), 2 ** 40);
  assert.equal(readRunFile(folder, 'result.json', 10 * 1024 * 1024), 'too_large');
});

test('what is no file of its own is unreadable, and a pipe is not waited for [S4-40]', (t) => {
  const { folder, at, outside } = scene(t);
  writeFileSync(outside, 'secret');
  const plant: Readonly<Record<string, (path: string) => unknown>> = {
    link: (path) => symlinkSync(outside, path),
    'dead-link': (path) => symlinkSync('nowhere', path),
    second: (path) => linkSync(outside, path),
    folder: (path) => mkdirSync(path),
    pipe: (path) => execFileSync('mkfifo', [path]),
  };
  for (const [name, make] of Object.entries(plant)) {
    make(at(name));
    assert.equal(readRunFile(folder, name, 100), 'unreadable', name);
  }
});

test('the file of the tool is put aside, whatever it is and whatever is there [S4-40]', (t) => {
  const { folder, path, at } = scene(t);
  assert.equal(keepOriginal(folder), undefined);
  writeFileSync(at('result.json'), 'bytes of the tool');
  writeFileSync(at('result.json.tool'), 'planted');
  assert.equal(keepOriginal(folder), 'result.json.tool');
  assert.equal(text(at('result.json.tool')), 'bytes of the tool');
  rmSync(at('result.json.tool'));

  mkdirSync(at('result.json.tool/x'), { recursive: true });
  for (const make of [
    () => writeFileSync(at('result.json'), 'x'),
    () => mkdirSync(at('result.json/y'), { recursive: true }),
    () => symlinkSync('/etc/passwd', at('result.json')),
  ]) {
    make();
    assert.match(keepOriginal(folder) ?? '', /^result\.json\.tool\.tool-runtime-tmp-/);
    writeResultAtomic(folder, 'ours');
    rmSync(at('result.json'));
  }
  assert.equal(readdirSync(path).length, 4);
});
