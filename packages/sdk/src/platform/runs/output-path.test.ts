import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isToolError, type JsonValue } from '@tool-runtime/protocol';
import { type HeldFolder, openBase } from '../descriptors/held-path.ts';
import { digest } from '../digest.ts';
import { checkOutputPath, fileDigest, type OutputLimits } from './output-path.ts';

function scene(t: TestContext) {
  const parent = mkdtempSync(join(tmpdir(), 'output-'));
  const path = join(parent, 'run');
  mkdirSync(join(path, 'outputs/deep'), { recursive: true });
  writeFileSync(join(parent, 'secret'), 'secret');
  const dirFd = openBase(path);
  t.after(() => {
    closeSync(dirFd);
    rmSync(parent, { recursive: true, force: true });
  });
  return { folder: { dirFd }, at: (name: string) => join(path, name), outside: join(parent, 'secret') };
}

async function reasonOf(folder: HeldFolder, path: string, limits?: OutputLimits): Promise<JsonValue | undefined> {
  try {
    await checkOutputPath(folder, path, limits);
    return undefined;
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL', String(thrown));
    return thrown.details['reason'] ?? null;
  }
}

test('a regular file in the folder or below is an output [S4-14]', async (t) => {
  const { folder, at } = scene(t);
  for (const path of ['answer.txt', 'outputs/answer.txt', 'outputs/deep/..answer', 'outputs/.hidden', 'outputs/ä b']) {
    writeFileSync(at(path), path);
    assert.deepEqual(await checkOutputPath(folder, path), { bytes: Buffer.byteLength(path), digest: digest(path) });
  }
  writeFileSync(at('empty'), '');
  assert.deepEqual(await checkOutputPath(folder, 'empty'), { bytes: 0, digest: digest('') });
});

test('a path that is malformed or leads elsewhere is refused [S4-13]', async (t) => {
  const { folder, at } = scene(t);
  writeFileSync(at('a'), 'x');
  const refused: Readonly<Record<string, string>> = {
    '': 'malformed',
    'a\0b': 'malformed',
    'a\\b': 'malformed',
    '\ud800': 'malformed',
    [`${'x'.repeat(300)}`]: 'malformed',
    '/etc/passwd': 'absolute',
    '\\etc': 'absolute',
    'C:\\a': 'volume',
    'c:a': 'volume',
    'C:': 'volume',
    '.': 'traversal',
    '..': 'traversal',
    '../secret': 'traversal',
    'outputs/../../secret': 'traversal',
    'outputs/../a': 'traversal',
    './a': 'traversal',
    'outputs//a': 'traversal',
    'a/': 'traversal',
    'a/.': 'traversal',
    missing: 'missing',
    'outputs/missing': 'missing',
    'no/such/folder': 'missing',
    'a/b': 'link',
  };
  for (const [path, reason] of Object.entries(refused)) assert.equal(await reasonOf(folder, path), reason, path);
  assert.equal(await reasonOf(folder, 'a'), undefined);
});

test('a link anywhere below the run folder is refused, also one that stays inside [S4-13]', async (t) => {
  const { folder, at, outside } = scene(t);
  writeFileSync(at('real'), 'x');
  writeFileSync(at('outputs/real'), 'x');
  symlinkSync(outside, at('out'));
  symlinkSync('real', at('in'));
  symlinkSync('nowhere', at('dead'));
  symlinkSync('outputs', at('folder'));
  symlinkSync('..', at('outputs/up'));
  for (const path of ['out', 'in', 'dead', 'folder/real', 'outputs/up/real', 'outputs/up/../secret']) {
    assert.match(String(await reasonOf(folder, path)), /^(link|traversal)$/, path);
  }
  assert.equal(await reasonOf(folder, 'outputs/real'), undefined);
});

test('a folder, a pipe, a socket and a device are refused without waiting [S4-13]', async (t) => {
  const { folder, at } = scene(t);
  execFileSync('mkfifo', [at('pipe')]);
  const server = createServer().listen(at('socket'));
  t.after(() => server.close());
  await new Promise((done) => server.once('listening', done));
  for (const path of ['outputs', 'pipe', 'socket']) assert.equal(await reasonOf(folder, path), 'not_regular', path);
  const devices = openBase('/dev');
  t.after(() => closeSync(devices));
  for (const path of ['null', 'zero', 'tty'])
    assert.equal(await reasonOf({ dirFd: devices }, path), 'not_regular', path);
});

test('a file with a second name is refused, because that may lie anywhere [S4-13]', async (t) => {
  const { folder, at, outside } = scene(t);
  linkSync(outside, at('outputs/second'));
  assert.equal(await reasonOf(folder, 'outputs/second'), 'hard_link');
  rmSync(outside);
  assert.equal(await reasonOf(folder, 'outputs/second'), undefined);
});

test('a file over the limit is refused before it is read [S4-13]', async (t) => {
  const { folder, at } = scene(t);
  writeFileSync(at('a'), '');
  truncateSync(at('a'), 2 ** 42);
  assert.equal(await reasonOf(folder, 'a'), 'too_large');
  truncateSync(at('a'), 10);
  assert.equal(await reasonOf(folder, 'a', { maxBytes: 9 }), 'too_large');
  assert.equal(await reasonOf(folder, 'a', { maxBytes: 10 }), undefined);
});

test('no refusal leaves a descriptor open [S4-13]', async (t) => {
  const { folder, at } = scene(t);
  writeFileSync(at('a'), '');
  mkdirSync(at('d'));
  symlinkSync('a', at('l'));
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  for (const path of ['a', 'd', 'l', 'missing', 'd/missing', 'l/x', 'outputs/deep/missing'])
    await reasonOf(folder, path);
  assert.equal(open(), before);
});

test('a digest is made piece by piece and a missing file is an error [S4-6] (deep)', async (t) => {
  const { at } = scene(t);
  const size = 300 * 1024 * 1024;
  writeFileSync(at('big'), 'head');
  truncateSync(at('big'), size);
  const before = process.memoryUsage().rss;
  const found = await fileDigest(at('big'));
  assert.ok(process.memoryUsage().rss - before < size / 2, 'the file is never in memory as a whole');
  const expected = execFileSync('sha256sum', [at('big')], { encoding: 'utf8' }).slice(0, 64);
  assert.equal(found, `sha256:${expected}`);
  await assert.rejects(fileDigest(at('missing')), { code: 'E_FILE_IO' });
  await assert.rejects(fileDigest(at('outputs')), { code: 'E_FILE_IO' });
});

test('a check can be cancelled in the middle of a large file [S4-13]', async (t) => {
  const { folder, at } = scene(t);
  closeSync(openSync(at('big'), 'w'));
  truncateSync(at('big'), 2 ** 29);
  const stop = new AbortController();
  const running = checkOutputPath(folder, 'big', { signal: stop.signal });
  stop.abort();
  await assert.rejects(running);
  assert.equal(await reasonOf(folder, 'missing'), 'missing');
});
