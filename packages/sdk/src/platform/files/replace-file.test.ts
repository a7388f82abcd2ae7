/** What a write leaves on disk: content, mode, links, temporary files, and what it reports about them. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { createDisk, createFullDisk } from '../descriptors/disk.ts';
import type { RelativePath } from '../descriptors/path-rules.ts';
import { identityOf, openRoot } from '../descriptors/root.ts';
import { sha256Hex } from '../digest.ts';
import { setAside } from './remove-tree.ts';
import { replaceFolder } from './replace-file.ts';
import { createWorkspace, type FileWorkspace } from './workspace.ts';

const BACKENDS = ['openat2', 'walk'] as const;
const run = promisify(execFile);

function scene(
  t: TestContext,
  backend: 'openat2' | 'walk',
  disk = createDisk(),
): { directory: string; workspace: FileWorkspace } {
  const directory = mkdtempSync(join(tmpdir(), 'writes-'));
  const root = openRoot(directory, { backend });
  t.after(() => {
    root.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { directory, workspace: createWorkspace(root, { disk }) };
}

async function failureOf(action: () => unknown): Promise<ToolError> {
  try {
    await action();
  } catch (thrown) {
    assert.ok(isToolError(thrown), String(thrown));
    return thrown;
  }
  return assert.fail('nothing was refused');
}

const modeOf = (path: string): number => statSync(path).mode & 0o7777;
const text = (value: string): Buffer => Buffer.from(value);

test('a replaced file is let go only when it has lost its name, and a refused write lets it go too', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'writes-'));
  const root = openRoot(directory);
  t.after(() => {
    root.close();
    rmSync(directory, { recursive: true, force: true });
  });
  for (const disk of [createDisk(), createFullDisk()]) {
    const links: number[] = [];
    const release = (fd: number): void => {
      links.push(fstatSync(fd).nlink);
      closeSync(fd);
    };
    const workspace = createWorkspace(root, { disk: { ...disk, release } });
    await workspace.writeFile('file', text('one'));
    await workspace.writeFile('file', text('two'));
    await workspace.writeFile('file', Buffer.alloc(1_700_000, 'x'));
    await failureOf(() => workspace.writeFile('file', text('no'), { expectedSha256: sha256Hex('other') }));
    assert.deepEqual(links, [0, 0, 1]);
    await workspace.removeFile('file');
  }
});

test('of many replaced files only a few are open at a time, and soon none', async (t) => {
  const { directory, workspace } = scene(t, 'openat2');
  const left = (): number =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === `${join(directory, 'file')} (deleted)`;
      } catch {
        return false;
      }
    }).length;
  for (let turn = 0; turn < 40; turn++) void workspace.writeFile('file', text(`${turn}`));
  assert.ok(left() <= 8, `${left()} open`);
  while (left() > 0) await setTimeout(5);
});

for (const backend of BACKENDS) {
  describe(`writing on ${backend}`, () => {
    test('reports what was there and what is there now, also when nothing changed [S0-31]', async (t) => {
      const { workspace } = scene(t, backend);
      const after = { sha256: sha256Hex('one'), size: 3, mode: 0o644 };
      assert.deepEqual(await workspace.writeFile('./file', text('one')), { path: 'file', before: null, after });
      assert.deepEqual(await workspace.writeFile('file', text('one')), { path: 'file', before: after, after });
      const large = Buffer.alloc(1_700_000, 'x');
      const second = await workspace.writeFile('file', large);
      assert.deepEqual(second, {
        path: 'file',
        before: after,
        after: { sha256: sha256Hex(large), size: 1_700_000, mode: 0o644 },
      });
      assert.deepEqual(await workspace.writeFile('file', text(''), { durable: true }), {
        path: 'file',
        before: second.after,
        after: { sha256: sha256Hex(''), size: 0, mode: 0o644 },
      });
      assert.deepEqual(await workspace.removeFile('file'), {
        path: 'file',
        before: { sha256: sha256Hex(''), size: 0, mode: 0o644 },
        after: null,
      });
    });

    test('leaves no temporary file, whether it succeeds or fails [S0-31]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      writeFileSync(join(directory, 'file'), 'old');
      await workspace.writeFile('file', text('new'));
      await failureOf(() => workspace.writeFile('file', text('x'), { expectedSha256: sha256Hex('old') }));
      await failureOf(() => workspace.writeFile('file', Buffer.alloc(1_200_000), { expectedSha256: null }));
      await failureOf(() => workspace.writeFile('file', text('x'), { exclusive: true }));
      assert.deepEqual(readdirSync(directory), ['file']);
      assert.equal(readFileSync(join(directory, 'file'), 'utf8'), 'new');
    });

    test('leaves no descriptor behind [S0-31]', async (t) => {
      // Replaced files are closed at once here, so that they can be counted.
      const { directory, workspace } = scene(t, backend, { ...createDisk(), release: closeSync });
      symlinkSync('file', join(directory, 'alias'));
      const work = async (): Promise<void> => {
        await workspace.writeFile('a/b/c', text('x'), { createDirs: true });
        await workspace.writeFile('file', Buffer.alloc(1_200_000), { durable: true });
        await workspace.writeFile('alias', text('x'));
        await failureOf(() => workspace.writeFile('a', text('x')));
        await failureOf(() => workspace.writeFile('.git/x', text('x')));
        await failureOf(() => workspace.writeFile('file/x', text('x'), { createDirs: true }));
        await failureOf(() => workspace.writeFile('missing/../x', text('x'), { createDirs: true }));
        await failureOf(() => workspace.writeFile('file', text('x'), { expectedSha256: null }));
        await workspace.removeFile('file');
        await workspace.readFile('a/b/c');
        workspace.lockKeys('alias');
      };
      await work();
      const before = readdirSync('/proc/self/fd').length;
      await work();
      assert.equal(readdirSync('/proc/self/fd').length, before);
    });

    test('modes are exact whatever the umask, kept on existing files, and never hold set-id bits [S0-31]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      const umask = process.umask(0o077);
      t.after(() => process.umask(umask));
      await workspace.writeFile('plain', text('x'));
      await workspace.writeFile('open', text('x'), { mode: 0o777 });
      await workspace.writeFile('open', text('y'), { mode: 0o600 });
      await workspace.writeFile('forced', text('x'), { mode: 0o755 });
      await workspace.writeFile('forced', text('y'), { mode: 0o640, forceMode: true });
      assert.deepEqual(
        ['plain', 'open', 'forced'].map((name) => modeOf(join(directory, name))),
        [0o644, 0o777, 0o640],
      );
      for (const mode of [0o4755, 0o2755, 0o1777]) {
        assert.equal(
          (await failureOf(() => workspace.writeFile('bad', text('x'), { mode }))).code,
          'E_VALIDATION_FAIL',
        );
      }
      chmodSync(join(directory, 'plain'), 0o4755);
      await workspace.writeFile('plain', text('y'));
      assert.equal(modeOf(join(directory, 'plain')), 0o755);
      assert.ok(!existsSync(join(directory, 'bad')));
    });

    test('a hard link from outside keeps its content [S0-31]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      const outside = mkdtempSync(join(tmpdir(), 'outside-'));
      t.after(() => rmSync(outside, { recursive: true }));
      writeFileSync(join(outside, 'shared'), 'original');
      linkSync(join(outside, 'shared'), join(directory, 'file'));
      await workspace.writeFile('file', text('changed'));
      assert.equal(readFileSync(join(outside, 'shared'), 'utf8'), 'original');
      assert.equal(readFileSync(join(directory, 'file'), 'utf8'), 'changed');
    });

    test('writing through a link changes the file it points to and keeps the link [S0-31]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      mkdirSync(join(directory, 'real'));
      writeFileSync(join(directory, 'real/file'), 'old');
      symlinkSync('real/hop', join(directory, 'alias'));
      symlinkSync('file', join(directory, 'real/hop'));
      symlinkSync('real/later', join(directory, 'dangling'));
      await workspace.writeFile('alias', text('new'));
      await workspace.writeFile('dangling', text('made'));
      assert.ok(lstatSync(join(directory, 'alias')).isSymbolicLink());
      assert.deepEqual(
        ['real/file', 'real/later'].map((name) => readFileSync(join(directory, name), 'utf8')),
        ['new', 'made'],
      );

      assert.equal(
        (await failureOf(() => workspace.writeFile('dangling', text('x'), { exclusive: true }))).code,
        'E_FILE_IO',
      );
      await workspace.removeFile('alias');
      assert.ok(!existsSync(join(directory, 'alias')) && existsSync(join(directory, 'real/file')));
    });

    test('a missing folder is named, and made when asked [S0-31]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      mkdirSync(join(directory, 'a'));
      const refused = await failureOf(() => workspace.writeFile('a/b/c/file', text('x')));
      assert.deepEqual([refused.code, refused.message], ['E_FILE_IO', 'Folder not found: a/b']);
      await workspace.writeFile('a/b/c/file', text('x'), { createDirs: true });
      assert.equal(readFileSync(join(directory, 'a/b/c/file'), 'utf8'), 'x');
      for (const path of ['a/b/c/file/d', 'a/', 'a', '.', 'a/..']) {
        assert.equal(
          (await failureOf(() => workspace.writeFile(path, text('x'), { createDirs: true }))).code,
          'E_FILE_IO',
          path,
        );
      }
    });

    test('an expected digest guards the write, in both directions [S0-31]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      await workspace.writeFile('file', text('one'), { expectedSha256: null });
      await workspace.writeFile('file', text('two'), { expectedSha256: sha256Hex('one') });
      for (const expectedSha256 of [sha256Hex('one'), null]) {
        const refused = await failureOf(() => workspace.writeFile('file', text('three'), { expectedSha256 }));
        assert.deepEqual([refused.code, refused.details['reason']], ['E_FILE_IO', 'precondition_failed']);
      }
      assert.equal(
        (await failureOf(() => workspace.writeFile('gone', text('x'), { expectedSha256: sha256Hex('') }))).code,
        'E_FILE_IO',
      );
      assert.equal(readFileSync(join(directory, 'file'), 'utf8'), 'two');
    });

    test('of several exclusive writers at once exactly one wins, and plain writers all do [S0-31]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      const writers = (exclusive: boolean) =>
        Promise.allSettled(
          [...'abcd'].map((digit) => workspace.writeFile('file', Buffer.alloc(1_300_000, digit), { exclusive })),
        );
      const won = (results: PromiseSettledResult<unknown>[]): number =>
        results.filter(({ status }) => status === 'fulfilled').length;
      assert.equal(won(await writers(true)), 1);
      assert.equal(won(await writers(false)), 4);
      assert.deepEqual(readdirSync(directory), ['file']);
    });

    test('readers see the old content or the new, never half [S0-31]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      const [one, two] = ['1', '2'].map((digit) => Buffer.alloc(1_400_000, digit));
      assert.ok(one && two);
      const wholes = new Set([sha256Hex(one), sha256Hex(two)]);
      await workspace.writeFile('file', one);
      let isWriting = true;
      const reader = (async () => {
        const torn: string[] = [];
        while (isWriting) {
          const { sha256 } = await workspace.readFile('file');
          if (!wholes.has(sha256)) torn.push(sha256);
        }
        return torn;
      })();
      for (let round = 0; round < 40; round++) await workspace.writeFile('file', round % 2 === 0 ? two : one);
      isWriting = false;
      assert.deepEqual(await reader, []);
      assert.deepEqual(readdirSync(directory), ['file']);
    });

    test('what a killed call left is swept when it is old and ours: files, links and whole trees [S0-31]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      const old = [
        '.tool-runtime-tmp-0123456789ab',
        '.tool-runtime-tmp-0123456789abc',
        '.tool-runtime-tmp-notes',
        'file',
      ];
      const young = '.tool-runtime-tmp-ba9876543210';
      const tree = '.tool-runtime-tmp-aaaaaaaaaaaa';
      const link = '.tool-runtime-tmp-bbbbbbbbbbbb';
      mkdirSync(join(directory, tree, 'a/b'), { recursive: true });
      writeFileSync(join(directory, tree, 'a/b/file'), 'x');
      symlinkSync('../../file', join(directory, tree, 'a/link'));
      symlinkSync('file', join(directory, link));
      for (const name of [...old, young]) writeFileSync(join(directory, name), 'x');
      const past = new Date(Date.now() - 120_000);
      for (const name of [...old, tree, link]) lutimesSync(join(directory, name), past, past);
      assert.equal(await workspace.sweepLeftovers(), 3);
      assert.deepEqual(readdirSync(directory).sort(), [...old.slice(1), young].sort());
      assert.equal(await workspace.sweepLeftovers(), 0);
    });

    test('a temporary name of another user is never swept, as far as we can make one [S0-31]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      const isRoot = process.geteuid?.() === 0;
      const name = '.tool-runtime-tmp-0123456789ab';
      const past = new Date(Date.now() - 120_000);
      writeFileSync(join(directory, name), 'x');
      utimesSync(join(directory, name), past, past);
      if (isRoot) chownSync(join(directory, name), 65534, 65534);
      assert.equal(await workspace.sweepLeftovers(), isRoot ? 0 : 1);
    });

    test('strange names come back as they went in, or are refused as malformed on one line [S0-14]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      const name = fc.oneof(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
        fc.constantFrom(
          '\n',
          'a\r\nb',
          '\u{1f469}\u200d\u{1f680}',
          'x'.repeat(255),
          '文'.repeat(85),
          '文'.repeat(86),
          '-rf',
          '*',
          '\\',
          '~',
          '$HOME',
          '\ud83d',
          ' ',
          '...',
          '%2e%2e',
          'nul',
        ),
      );
      await fc.assert(
        fc.asyncProperty(name, async (strange) => {
          fc.pre(!strange.includes('/') && strange !== '.' && strange !== '..');
          try {
            const change = await workspace.writeFile(`d/${strange}`, text(strange), { createDirs: true });
            const read = await workspace.readFile(change.path);
            assert.equal(Buffer.from(read.bytes).toString(), strange);
            assert.deepEqual(readdirSync(join(directory, 'd')), [strange]);
            await workspace.removeFile(change.path);
          } catch (thrown) {
            if (!isToolError(thrown)) throw thrown;
            assert.equal(thrown.code, 'E_VALIDATION_FAIL');
            assert.match(thrown.message, /^[^\p{Cc}]+$/u);
            assert.ok(strange.includes('\0') || !strange.isWellFormed() || Buffer.byteLength(strange) > 255);
          }
        }),
        { numRuns: 300 },
      );
      assert.deepEqual(readdirSync(join(directory, 'd')), []);
    });
  });
}

test('a write killed half-way leaves the old file whole and only a temporary name beside it [S0-31]', async (t) => {
  const { directory, workspace } = scene(t, 'walk');
  writeFileSync(join(directory, 'file'), 'old');
  const platform = new URL('.', import.meta.url).href;
  const script = `
    const { openRoot } = await import('${platform}../descriptors/root.ts');
    const { createWorkspace } = await import('${platform}workspace.ts');
    const workspace = createWorkspace(openRoot(process.argv[1], { backend: 'walk' }));
    void workspace.writeFile('file', Buffer.alloc(50_000_000, 'n'));
    process.kill(process.pid, 'SIGKILL');`;
  await assert.rejects(
    run(process.execPath, ['-C', 'tool-runtime-source', '--input-type=module', '-e', script, directory]),
    {
      signal: 'SIGKILL',
    },
  );
  const [leftover, file] = readdirSync(directory).sort();
  assert.equal(file, 'file');
  assert.match(leftover ?? '', /^\.tool-runtime-tmp-[-0-9a-f]+$/);
  assert.equal(readFileSync(join(directory, 'file'), 'utf8'), 'old');
  const past = new Date(Date.now() - 120_000);
  utimesSync(join(directory, leftover ?? ''), past, past);
  assert.equal(await workspace.sweepLeftovers(), 1);
});

/* A name that no longer means what was checked: nothing may be lost, and everything is as it was. */

function sceneReplaceFolder(t: TestContext, backend: (typeof BACKENDS)[number]) {
  const base = mkdtempSync(join(tmpdir(), 'replace-folder-'));
  for (const name of ['new', 'old']) {
    mkdirSync(join(base, name));
    writeFileSync(join(base, name, name), '');
  }
  const root = openRoot(base, { backend });
  const [from, to] = [root.openParent('new' as RelativePath), root.openParent('old' as RelativePath)];
  t.after(() => {
    from.close();
    to.close();
    root.close();
    rmSync(base, { recursive: true, force: true });
  });
  const listed = () => readdirSync(base).map((name) => [name, ...readdirSync(join(base, name))]);
  return {
    root,
    from,
    to,
    listed,
    identity: (name: string) => identityOf(statSync(join(base, name), { bigint: true })),
  };
}

for (const backend of BACKENDS) {
  test(`on ${backend} a folder is replaced only while it is the one that was judged [S0-27 S0-28]`, (t) => {
    const { root, from, to, listed, identity } = sceneReplaceFolder(t, backend);
    const judged = identity('old');
    assert.throws(() => replaceFolder({ root, from, to, replaced: '0:0' }), { code: 'EAGAIN' });
    assert.deepEqual(listed(), [
      ['new', 'new'],
      ['old', 'old'],
    ]);
    const aside = replaceFolder({ root, from, to, replaced: judged });
    assert.deepEqual(listed(), [
      [aside.name, 'old'],
      ['old', 'new'],
    ]);
  });

  test(`on ${backend} a folder is set aside only while it is the one that was judged [S0-29]`, (t) => {
    const { root, to, listed, identity } = sceneReplaceFolder(t, backend);
    assert.throws(() => setAside(root, to, identity('new')), { code: 'EAGAIN' });
    assert.deepEqual(listed(), [
      ['new', 'new'],
      ['old', 'old'],
    ]);
    const aside = setAside(root, to, identity('old'));
    assert.deepEqual(listed(), [
      [aside.name, 'old'],
      ['new', 'new'],
    ]);
  });
}
