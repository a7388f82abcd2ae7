/** What moving, copying and removing leave on disk, report and refuse, on both back ends; each refusal beside its twin. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
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
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { openRoot } from '../descriptors/root.ts';
import { sha256Hex } from '../digest.ts';
import { createGoverningFiles } from '../protection/governing-files.ts';
import { createWorkspace, type FileWorkspace, type WorkspaceOptions } from './workspace.ts';

const BACKENDS = ['openat2', 'walk'] as const;
/** Elsewhere than the temporary folder, as a rule: a file system in memory. */
const OTHER_DEVICE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const MAKE_FIFO = 'mkfifo';
const KEEP = { overwrite: false } as const;
const OVER = { overwrite: true } as const;
const COPY = { overwrite: false, preserveMode: true } as const;
const ALL = { recursive: true } as const;

interface Scene {
  readonly directory: string;
  readonly workspace: FileWorkspace;
  readonly at: (path: string) => string;
}

function scene(t: TestContext, backend: 'openat2' | 'walk', options: WorkspaceOptions = {}): Scene {
  const directory = mkdtempSync(join(tmpdir(), 'trees-'));
  const root = openRoot(directory, { backend });
  const workspace = createWorkspace(root, {
    governing: createGoverningFiles({ names: ['tool-runtime.yaml'] }),
    ...options,
  });
  t.after(() => {
    workspace.close();
    root.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { directory, workspace, at: (path) => join(directory, path) };
}

/** `name/` is a folder, `name -> text` a link, `name=text` a file. */
function plant(directory: string, ...entries: string[]): void {
  for (const entry of entries) {
    const [name = '', target] = entry.split(' -> ');
    const [file = '', text = ''] = name.split('=');
    const path = join(directory, file);
    mkdirSync(entry.endsWith('/') ? path : join(path, '..'), { recursive: true });
    if (target !== undefined) symlinkSync(target, path);
    else if (!entry.endsWith('/')) writeFileSync(path, text);
  }
}

/** In the same notation; links are not followed. */
function listed(directory: string, above = ''): string[] {
  return readdirSync(directory, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(directory, entry.name);
      const name = above + entry.name;
      if (entry.isSymbolicLink()) return [`${name} -> ${readlinkSync(path)}`];
      if (entry.isFile()) return [`${name}=${readFileSync(path, 'utf8')}`];
      return [`${name}/`, ...(entry.isDirectory() ? listed(path, `${name}/`) : [])];
    })
    .sort();
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

const modeOf = (path: string): number => lstatSync(path).mode & 0o7777;
const folder = (size: number, mode = 0o755) => ({ sha256: null, size, mode, type: 'directory' });
const file = (text: string, mode = 0o644) => ({ sha256: sha256Hex(text), size: text.length, mode });

for (const backend of BACKENDS) {
  describe(`trees on ${backend}`, () => {
    test('a move reports both names, the size of the tree, and what it replaced [S0-27]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      plant(directory, 'a/x=12345', 'a/in/y=67', 'a/link -> in/y', 'f=new', 'g=old!');
      assert.deepEqual(await workspace.move('./a/', 'b', KEEP), {
        changes: [
          { path: 'a', before: folder(7), after: null },
          { path: 'b', before: null, after: folder(7) },
        ],
        entries: 5,
        bytes: 7,
      });
      assert.deepEqual(await workspace.move('f', 'g', OVER), {
        changes: [
          { path: 'f', before: file('new'), after: null },
          { path: 'g', before: file('old!'), after: file('new') },
        ],
        entries: 1,
        bytes: 3,
      });
      const link = { sha256: null, size: 4, mode: 0o777, type: 'symlink' };
      assert.deepEqual((await workspace.move('b/link', 'pointer', KEEP)).changes[1]?.after, link);
      assert.deepEqual(listed(directory), ['b/', 'b/in/', 'b/in/y=67', 'b/x=12345', 'g=new', 'pointer -> in/y']);
    });

    test('an existing target is refused by name without overwrite, and replaced with it, kind by kind [S0-27]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      plant(directory, 'file=1', 'other=2', 'full/x=3', 'full2/y=4', 'empty/', 'link -> file', 'link2 -> other');
      const kinds = { file: 'plain', other: 'plain', link: 'plain', link2: 'plain', full: 'folder', empty: 'folder' };
      const before = listed(directory);
      for (const from of Object.keys(kinds)) {
        for (const to of Object.keys(kinds)) {
          if (from === to) continue;
          for (const act of [workspace.move, workspace.copy]) {
            const refused = await failureOf(() => act(from, to, COPY));
            assert.deepEqual([refused.code, refused.message], ['E_FILE_IO', `Target exists already: ${to}`]);
          }
        }
      }
      assert.deepEqual(listed(directory), before);
      assert.equal((await failureOf(() => workspace.move('file', 'empty', OVER))).details['reason'], 'type_differs');
      assert.equal((await failureOf(() => workspace.move('full', 'link', OVER))).details['reason'], 'type_differs');
      assert.deepEqual(listed(directory), before);
      await workspace.move('full', 'full2', OVER);
      await workspace.move('full2', 'empty', OVER);
      await workspace.move('file', 'other', OVER);
      await workspace.move('other', 'link2', OVER);
      await workspace.move('link', 'link2', OVER);
      assert.deepEqual(listed(directory), ['empty/', 'empty/x=3', 'link2 -> file']);
    });

    test('a folder goes neither into itself nor onto a folder that holds it, and its like may [S0-27]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      plant(directory, 'a/b/c/file=x', 'ab/', 'alias -> a/b');
      for (const [from, to, reason] of [
        ['a', 'a/new', 'into_itself'],
        ['a', 'a/b/c/new', 'into_itself'],
        ['a', 'alias/new', 'into_itself'],
        ['a/b', 'a/b/missing/deep', 'into_itself'],
        ['a/b/c', 'a', 'contains_source'],
        ['a/b/c/file', 'a', 'contains_source'],
      ] as const) {
        for (const act of [workspace.move, workspace.copy]) {
          const refused = await failureOf(() => act(from, to, { ...COPY, ...OVER, createDirs: true }));
          assert.deepEqual([refused.code, refused.details['reason']], ['E_FILE_IO', reason], `${from} ${to}`);
        }
      }
      assert.deepEqual(listed(directory), ['a/', 'a/b/', 'a/b/c/', 'a/b/c/file=x', 'ab/', 'alias -> a/b']);
      await workspace.move('a/b/c', 'ab/c', KEEP);
      await workspace.copy('ab', 'a/ab', COPY);
      assert.deepEqual(listed(join(directory, 'a')), ['ab/', 'ab/c/', 'ab/c/file=x', 'b/']);
    });

    test('a move onto itself changes nothing and says so, a copy onto itself is refused [S0-27]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      plant(directory, 'a/file=x', 'alias -> a');
      for (const [from, to] of [
        ['a', './a/'],
        ['a/file', 'alias/file'],
        ['a/file', 'a/../a/file'],
      ] as const) {
        for (const options of [KEEP, OVER]) {
          assert.deepEqual(await workspace.move(from, to, options), { changes: [], entries: 0, bytes: 0 });
          assert.equal((await failureOf(() => workspace.copy(from, to, COPY))).details['reason'], 'same_entry');
        }
      }
      assert.deepEqual(listed(directory), ['a/', 'a/file=x', 'alias -> a']);
    });

    test('one of two names of a file moved onto the other leaves one name [S0-27]', async (t) => {
      const { directory, workspace, at } = scene(t, backend);
      plant(directory, 'one=x', 'sub/');
      linkSync(at('one'), at('sub/two'));
      assert.equal((await failureOf(() => workspace.move('one', 'sub/two', KEEP))).details['reason'], 'EEXIST');
      await workspace.move('one', 'sub/two', OVER);
      assert.deepEqual(listed(directory), ['sub/', 'sub/two=x']);
    });

    test('missing folders of the target are named, and made only when asked and all else is well [S0-27 S0-28]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      plant(directory, 'a=x', 'repository/.git/config=y');
      for (const act of [workspace.move, workspace.copy]) {
        const refused = await failureOf(() => act('a', 'new/deep/b', COPY));
        assert.deepEqual([refused.code, refused.message], ['E_FILE_IO', 'Folder not found: new']);
        await failureOf(() => act('missing', 'new/deep/b', { ...COPY, createDirs: true }));
        await failureOf(() => act('repository', 'new/deep/b', { ...COPY, createDirs: true }));
        assert.ok(!existsSync(join(directory, 'new')));
      }
      await workspace.copy('a', 'new/deep/b', { ...COPY, createDirs: true });
      await workspace.move('a', 'new/other/c', { ...COPY, createDirs: true });
      assert.deepEqual(listed(join(directory, 'new')), ['deep/', 'deep/b=x', 'other/', 'other/c=x']);
    });

    test('the root is no operand however it is spelled, what lies in it is [S0-34]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      plant(directory, 'sub/deep/', 'sub/file=x');
      for (const root of ['.', './', 'sub/..', 'sub/deep/../..']) {
        for (const action of [
          () => workspace.remove(root, ALL),
          () => workspace.move(root, 'sub/new', OVER),
          () => workspace.move('sub', root, OVER),
          () => workspace.copy(root, 'sub/new', COPY),
          () => workspace.copy('sub', root, { ...COPY, ...OVER }),
        ]) {
          const refused = await failureOf(action);
          assert.deepEqual([refused.code, refused.details['reason']], ['E_POLICY', 'workspace_root'], root);
        }
      }
      assert.equal((await failureOf(() => workspace.remove('sub/deep/..', ALL))).code, 'E_FILE_IO');
      assert.deepEqual(listed(directory), ['sub/', 'sub/deep/', 'sub/file=x']);
      await workspace.remove('sub/deep/../deep', ALL);
      assert.deepEqual(listed(directory), ['sub/', 'sub/file=x']);
    });

    test('a tree that holds a protected name stays as it is, a similar one does not [S0-14 S0-34]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      plant(directory, 'a/b/.GIT/config=x', 'c/Tool-Runtime.yaml=x', 'free/', 'file=x');
      const before = listed(directory);
      for (const [holder, name] of [
        ['a', 'a/b/.GIT'],
        ['a/b', 'a/b/.GIT'],
        ['c', 'c/Tool-Runtime.yaml'],
        ['a/b/.GIT', 'a/b/.GIT'],
        ['a/b/.GIT/config', 'a/b/.GIT/config'],
      ] as const) {
        for (const action of [
          () => workspace.remove(holder, ALL),
          () => workspace.move(holder, 'new', KEEP),
          () => workspace.copy(holder, 'new', COPY),
          () => workspace.move('free', holder, OVER),
          () => workspace.copy('free', holder, { ...COPY, ...OVER }),
          () => workspace.move('file', 'a/.git', KEEP),
          () => workspace.copy('file', 'free/tool-runtime.yaml', COPY),
        ]) {
          const refused = await failureOf(action);
          assert.deepEqual([refused.code, refused.details['reason']], ['E_POLICY', 'protected_name']);
          if (!/free|a\/\.git/.test(refused.message)) assert.equal(refused.message, `Path is protected: ${name}`);
        }
      }
      assert.deepEqual(listed(directory), before);
      plant(directory, 'twin/b/.github/config=x', 'twin/gitconfig=x');
      await workspace.copy('twin', 'copy', COPY);
      await workspace.move('copy', 'moved', KEEP);
      assert.equal((await workspace.remove('moved', ALL))?.entries, 5);
    });

    test('copies keep modes or take the plain ones, whatever the umask, and never set-id bits [S0-28]', async (t) => {
      const { directory, workspace, at } = scene(t, backend);
      const umask = process.umask(0o077);
      t.after(() => process.umask(umask));
      plant(directory, 'a/in/run=x', 'a/secret=y', 'a/closed/z=z');
      for (const [path, mode] of [
        ['a', 0o750],
        ['a/in', 0o1777],
        ['a/in/run', 0o4755],
        ['a/secret', 0o400],
        ['a/closed/z', 0o644],
        ['a/closed', 0o555],
      ] as const) {
        chmodSync(at(path), mode);
      }
      const modes = (top: string) => ['', '/in', '/in/run', '/secret', '/closed'].map((path) => modeOf(at(top + path)));
      const change = await workspace.copy('a', 'kept', COPY);
      assert.deepEqual(change.changes, [{ path: 'kept', before: null, after: folder(3, 0o750) }]);
      await workspace.copy('a', 'plain', { ...COPY, preserveMode: false });
      await workspace.copy('a/secret', 'secret', COPY);
      assert.deepEqual(modes('kept'), [0o750, 0o777, 0o755, 0o400, 0o555]);
      assert.deepEqual(modes('plain'), [0o755, 0o755, 0o644, 0o644, 0o755]);
      assert.equal(modeOf(at('secret')), 0o400);
      for (const top of ['a', 'kept']) assert.equal((await workspace.remove(top, ALL))?.entries, 6);
    });

    test('links are copied as they are, also those that lead outside, and nothing behind them [S0-28]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      plant(directory, 'a/up -> ../../..', 'a/etc -> /etc', 'a/loop -> loop', 'a/near -> f', 'a/f=x', 'top -> /etc');
      const change = await workspace.copy('a', 'b', COPY);
      assert.deepEqual([change.entries, change.bytes], [6, 1]);
      assert.deepEqual(listed(join(directory, 'b')), listed(join(directory, 'a')));
      await workspace.copy('top', 'b/top', COPY);
      assert.equal(readlinkSync(join(directory, 'b/top')), '/etc');
      assert.equal((await workspace.remove('b', ALL))?.entries, 7);
      await workspace.remove('top', { recursive: false });
      assert.ok(existsSync('/etc/passwd') && !existsSync(join(directory, 'top')));
    });

    test('small and large files arrive whole, with their digest [S0-28]', async (t) => {
      const { directory, workspace, at } = scene(t, backend);
      plant(directory, 'tree/');
      for (const size of [0, 1, 256 * 1024, 256 * 1024 + 1, 5_000_001]) {
        const bytes = Buffer.alloc(size, 'abcdefg');
        writeFileSync(at('tree/file'), bytes);
        const { changes } = await workspace.copy('tree/file', 'copy', { ...COPY, ...OVER });
        assert.deepEqual(changes[0]?.after, { sha256: sha256Hex(bytes), size, mode: 0o644 });
        assert.equal((await workspace.copy('tree', 'tree-copy', { ...COPY, ...OVER })).bytes, size);
        for (const path of ['copy', 'tree-copy/file']) assert.equal(Buffer.compare(readFileSync(at(path)), bytes), 0);
      }
    });

    test('a pipe in a tree stops its copy before anything is visible; moved and removed it may be [S0-28]', async (t) => {
      const { directory, workspace, at } = scene(t, backend);
      plant(directory, 'a/b/file=x', 'old/y=y');
      execFileSync(MAKE_FIFO, [at('a/b/pipe')]);
      for (const [from, to] of [
        ['a', 'copy'],
        ['a', 'old'],
        ['a/b/pipe', 'copy'],
      ] as const) {
        const refused = await failureOf(() => workspace.copy(from, to, { ...COPY, ...OVER }));
        assert.deepEqual([refused.code, refused.message], ['E_FILE_IO', 'Not a file, folder or link: a/b/pipe']);
      }
      assert.deepEqual(readdirSync(directory).sort(), ['a', 'old']);
      await workspace.move('a', 'moved', KEEP);
      assert.equal((await workspace.remove('moved', ALL))?.entries, 4);
    });

    test('a folder with content needs recursive, and the answer says how much is in it [S0-29]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      plant(directory, 'one/x=1', 'two/x=1', 'two/y/z=22', 'empty/', 'file=333', 'link -> two');
      const refused = await failureOf(() => workspace.remove('two', { recursive: false }));
      assert.equal(refused.message, 'Folder is not empty (2 entries): two');
      assert.equal(refused.details['next'], 'Pass recursive: true to remove it with everything in it');
      assert.match((await failureOf(() => workspace.remove('one', { recursive: false }))).message, /\(1 entry\)/);
      assert.deepEqual(await workspace.remove('two/', ALL), {
        changes: [{ path: 'two', before: folder(3), after: null }],
        entries: 4,
        bytes: 3,
      });
      assert.deepEqual(await workspace.remove('empty', { recursive: false }), {
        changes: [{ path: 'empty', before: folder(0), after: null }],
        entries: 1,
        bytes: 0,
      });
      assert.deepEqual((await workspace.remove('file', ALL))?.changes, [
        { path: 'file', before: file('333'), after: null },
      ]);
      await workspace.remove('link', { recursive: false });
      for (const gone of ['file', 'two', 'missing/deep']) assert.equal(await workspace.remove(gone, ALL), null);
      assert.deepEqual(listed(directory), ['one/', 'one/x=1']);
    });

    test('a slash at the end asks for a folder: a file or link there is refused [S0-29]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      plant(directory, 'real/x=1', 'link -> real', 'file=1');
      for (const path of ['link/', 'file/', 'file/.']) {
        assert.equal((await failureOf(() => workspace.remove(path, ALL))).code, 'E_FILE_IO', path);
        assert.equal((await failureOf(() => workspace.move(path, 'new', KEEP))).code, 'E_FILE_IO', path);
      }
      assert.equal((await failureOf(() => workspace.move('file', 'new/', KEEP))).code, 'E_FILE_IO');
      assert.deepEqual(listed(directory), ['file=1', 'link -> real', 'real/', 'real/x=1']);
      await workspace.move('real/', 'new/', KEEP);
      await workspace.remove('new/', ALL);
    });

    test('names that are no UTF-8 go with their tree [S0-27 S0-28 S0-29]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      plant(directory, 'a/plain=x');
      const raw = (bytes: string) => Buffer.concat([Buffer.from(`${directory}/a/`), Buffer.from(bytes, 'latin1')]);
      writeFileSync(raw('\xff\xfe'), 'raw');
      mkdirSync(raw('\xe4'));
      writeFileSync(raw('\xe4/\xf6'), 'deep');
      symlinkSync(Buffer.from('\xfc', 'latin1'), raw('\xfb'));
      writeFileSync(join(directory, 'a/\ufffd'), 'valid');
      const names = (top: string): string[] =>
        readdirSync(join(directory, top), { recursive: true, encoding: 'latin1' }).sort();
      const before = names('a');
      assert.equal((await workspace.copy('a', 'b', COPY)).entries, 7);
      assert.deepEqual(names('b'), before);
      await workspace.move('b', 'c', KEEP);
      assert.deepEqual(names('c'), before);
      assert.equal((await workspace.remove('c', ALL))?.entries, 7);
      assert.equal((await workspace.readDirectory('a')).length, 5);
      assert.deepEqual(readdirSync(directory), ['a']);
    });

    test('across file systems a move is a copy whose source goes last [S0-27 S0-28]', async (t) => {
      const elsewhere = mkdtempSync(join(OTHER_DEVICE, 'trees-'));
      t.after(() => rmSync(elsewhere, { recursive: true, force: true }));
      const { directory, workspace, at } = scene(t, backend, {
        extraRoots: [{ name: 'other', path: elsewhere, access: 'write' }],
      });
      plant(directory, 'a/in/run=x', 'a/link -> in', 'file=yy', 'link -> a', 'full/z=z');
      chmodSync(at('a/in/run'), 0o755);
      assert.equal((await workspace.move('a', '@other/a', KEEP)).entries, 4);
      assert.equal(
        (await failureOf(() => workspace.move('file', '@other/a', KEEP))).message,
        'Target exists already: @other/a',
      );
      await workspace.move('file', '@other/file', KEEP);
      await workspace.move('link', '@other/link', KEEP);
      await workspace.move('full', '@other/a', OVER);
      assert.deepEqual(listed(elsewhere), ['a/', 'a/z=z', 'file=yy', 'link -> a']);
      assert.deepEqual(readdirSync(directory), []);
      await workspace.move('@other/a', 'back', KEEP);
      await workspace.copy('@other/link', 'back/link', COPY);
      assert.deepEqual(listed(directory), ['back/', 'back/link -> a', 'back/z=z']);
      execFileSync(MAKE_FIFO, [at('back/pipe')]);
      if (statSync(elsewhere).dev !== statSync(directory).dev) {
        assert.equal(
          (await failureOf(() => workspace.move('back', '@other/new', KEEP))).details['reason'],
          'special_file',
        );
        assert.deepEqual(readdirSync(elsewhere).sort(), ['file', 'link']);
      }
      assert.ok(existsSync(at('back/pipe')));
    });

    test('a read-only place gives copies away and takes no change [S0-15]', async (t) => {
      const shelf = mkdtempSync(join(tmpdir(), 'shelf-'));
      t.after(() => rmSync(shelf, { recursive: true, force: true }));
      plant(shelf, 'book/page=1');
      const { directory, workspace } = scene(t, backend, {
        extraRoots: [{ name: 'shelf', path: shelf, access: 'read' }],
      });
      plant(directory, 'file=x');
      for (const action of [
        () => workspace.move('@shelf/book', 'book', KEEP),
        () => workspace.move('file', '@shelf/file', KEEP),
        () => workspace.copy('file', '@shelf/file', COPY),
        () => workspace.remove('@shelf/book', ALL),
        () => workspace.makeDirectory('@shelf/new'),
      ]) {
        const refused = await failureOf(action);
        assert.deepEqual([refused.code, refused.details['reason']], ['E_POLICY', 'read_only']);
      }
      await workspace.copy('@shelf/book', 'book', COPY);
      assert.deepEqual(listed(directory), ['book/', 'book/page=1', 'file=x']);
      assert.deepEqual(listed(shelf), ['book/', 'book/page=1']);
    });

    test('of several copies and moves to one free name exactly one arrives, whole [S0-28]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      for (const digit of '0123') plant(directory, `from${digit}/x=${digit}`, `from${digit}/y=${digit}`);
      for (const act of [workspace.copy, workspace.move]) {
        const results = await Promise.allSettled([...'0123'].map((digit) => act(`from${digit}`, 'to', COPY)));
        assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
        const [x, y] = ['x', 'y'].map((name) => readFileSync(join(directory, 'to', name), 'utf8'));
        assert.equal(x, y);
        await workspace.remove('to', ALL);
      }
      assert.equal(readdirSync(directory).length, 3);
    });

    test('a cancelled copy leaves nothing, a cancelled removal is done or not begun [S0-28 S0-29]', async (t) => {
      const { directory, workspace, at } = scene(t, backend);
      plant(directory, 'large/');
      for (let index = 0; index < 40; index++) writeFileSync(at(`large/${index}`), Buffer.alloc(1_400_000));
      const reason = new ToolError('E_TIMEOUT', 'Too slow: test');
      for (const after of [0, 1, 5, 20]) {
        const controller = new AbortController();
        const copying = workspace.copy('large', 'copy', { ...COPY, signal: controller.signal });
        for (let turn = 0; turn < after; turn++) await new Promise((resolve) => setImmediate(resolve));
        controller.abort(reason);
        assert.equal(await failureOf(() => copying), reason);
        assert.deepEqual(readdirSync(directory), ['large']);
      }
      const controller = new AbortController();
      controller.abort(reason);
      assert.equal(await failureOf(() => workspace.remove('large', { ...ALL, signal: controller.signal })), reason);
      assert.equal(await failureOf(() => workspace.move('large', 'x', { ...KEEP, signal: controller.signal })), reason);
      assert.deepEqual(readdirSync(directory), ['large']);
      await workspace.copy('large', 'copy', { ...COPY, signal: new AbortController().signal });
      assert.equal(readdirSync(at('copy')).length, 40);
    });

    test('other work goes on while a large tree is copied and removed [S0-28 S0-29] (deep)', async (t) => {
      const { directory, workspace } = scene(t, backend);
      for (let index = 0; index < 1500; index++) plant(directory, `big/${index % 30}/${index}=x`);
      for (const act of [() => workspace.copy('big', 'copy', COPY), () => workspace.remove('copy', ALL)]) {
        let isOver = false;
        let turns = 0;
        const working = Promise.resolve(act()).finally(() => {
          isOver = true;
        });
        while (!isOver) {
          turns += 1;
          await new Promise((resolve) => setImmediate(resolve));
        }
        await working;
        assert.ok(turns > 3, `${turns} turns`);
      }
    });

    test('what a crash left beside the operands is swept first, what is young or not ours stays [S0-29]', async (t) => {
      const { directory, workspace, at } = scene(t, backend);
      const old = '.tool-runtime-tmp-0123456789ab';
      const young = '.tool-runtime-tmp-ba9876543210';
      const past = new Date(Date.now() - 120_000);
      for (const act of [
        () => workspace.move('src/a', 'dst/b', KEEP),
        () => workspace.copy('src/a', 'dst/b', COPY),
        () => workspace.remove('src/a', ALL),
      ]) {
        plant(
          directory,
          'src/a/x=1',
          'dst/',
          `src/${old}/in/x=1`,
          `dst/${old}=1`,
          `src/${young}=1`,
          'src/.tool-runtime-tmp-zz=1',
        );
        for (const place of ['src', 'dst']) lutimesSync(at(`${place}/${old}`), past, past);
        assert.deepEqual(await workspace.readDirectory('dst'), []);
        await act();
        assert.ok(existsSync(at(`src/${young}`)) && existsSync(at('src/.tool-runtime-tmp-zz')));
        await workspace.copy('src', 'again', COPY);
        assert.ok(!existsSync(at(`again/${young}`)), 'temporary names are not copied');
        for (const name of ['src', 'dst', 'again']) rmSync(at(name), { recursive: true, force: true });
      }
    });

    test('temporary names are ours alone: no call may create, move or remove one [S0-29]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      const name = '.tool-runtime-tmp-0123456789ab';
      plant(directory, `${name}/x=1`, 'file=x');
      for (const action of [
        () => workspace.writeFile(name.replace('0', '1'), Buffer.from('x')),
        () => workspace.makeDirectory(`sub/${name}`),
        () => workspace.move('file', name.replace('0', '1'), KEEP),
        () => workspace.copy('file', `${name}/y`, COPY),
        () => workspace.remove(name, ALL),
      ]) {
        assert.equal((await failureOf(action)).details['reason'], 'protected_name');
      }
      await workspace.move('file', `${name}0`, KEEP);
      assert.deepEqual(listed(directory), [`${name}/`, `${name}/x=1`, `${name}0=x`]);
    });

    test('trees deeper than can be held open are refused as a whole, trees just below go [S0-29]', async (t) => {
      const { directory, workspace, at } = scene(t, backend);
      mkdirSync(at(`deep/${'d/'.repeat(498)}x`), { recursive: true });
      assert.equal((await workspace.copy('deep', 'copy', COPY)).entries, 500);
      mkdirSync(at(`deep/${'d/'.repeat(498)}x/y`));
      for (const action of [
        () => workspace.remove('deep', ALL),
        () => workspace.copy('deep', 'other', COPY),
        () => workspace.move('deep', 'other', KEEP),
      ]) {
        assert.equal((await failureOf(action)).details['reason'], 'too_deep');
      }
      assert.deepEqual(readdirSync(directory).sort(), ['copy', 'deep']);
      assert.equal((await workspace.remove('copy', ALL))?.entries, 500);
    });

    test('leaves no descriptor and no temporary name behind, whether it succeeds or fails [S0-27 S0-28 S0-29]', async (t) => {
      const { directory, workspace } = scene(t, backend);
      plant(directory, 'a/b/c=x', 'repository/.git/x=y', 'file=x');
      const before = listed(directory);
      const work = async (): Promise<void> => {
        await workspace.copy('a', 'copy', COPY);
        await workspace.copy('a', 'copy', { ...COPY, ...OVER });
        await workspace.move('copy', 'new/moved', { ...KEEP, createDirs: true });
        await workspace.move('new/moved', 'a', OVER);
        await workspace.remove('new', { recursive: false });
        await workspace.copy('file', 'a/file', COPY);
        await workspace.remove('a/file', ALL);
        await workspace.makeDirectory('new/folder');
        await workspace.readDirectory('new');
        await workspace.remove('new', ALL);
        workspace.lockKeys('a/');
        workspace.lockKeys('.');
        for (const action of [
          () => workspace.copy('repository', 'x', COPY),
          () => workspace.move('a', 'a/b/x', KEEP),
          () => workspace.move('missing', 'x', KEEP),
          () => workspace.copy('file', 'a', COPY),
          () => workspace.move('file', 'missing/x', KEEP),
          () => workspace.remove('repository', ALL),
          () => workspace.remove('a', { recursive: false }),
          () => workspace.remove('a/..', ALL),
          () => workspace.makeDirectory('file/x'),
          () => workspace.readDirectory('file'),
        ]) {
          await failureOf(action);
        }
      };
      await work();
      const descriptors = readdirSync('/proc/self/fd').length;
      await work();
      assert.equal(readdirSync('/proc/self/fd').length, descriptors);
      assert.deepEqual(listed(directory), before);
    });

    test('a folder shares its lock with every spelling of it, a link has its own and that of its end [S0-76]', (t) => {
      const { directory, workspace } = scene(t, backend);
      plant(directory, 'sub/deep/', 'alias -> sub', 'leak -> /etc', 'other/');
      const shares = (left: string, right: string): boolean => {
        const keys = new Set(workspace.lockKeys(left));
        return workspace.lockKeys(right).some((key) => keys.has(key));
      };
      for (const spelling of ['sub', 'sub/', './sub/.', 'sub/deep/..', 'alias', 'alias/']) {
        assert.ok(shares('sub', spelling), spelling);
        assert.ok(!shares('other', spelling), spelling);
      }
      assert.ok(shares('.', 'sub/..') && shares('leak', './leak'));
      assert.ok(!shares('leak', 'alias'));
    });

    test('a folder is made with its parents once, and never over or through something else [S0-34]', async (t) => {
      const { directory, workspace, at } = scene(t, backend);
      plant(directory, 'file=x', 'alias -> sub', 'leak -> ..');
      assert.deepEqual(await workspace.makeDirectory('sub/a/b/'), {
        path: 'sub/a/b',
        before: null,
        after: folder(0, modeOf(at('sub/a/b'))),
      });
      for (const path of ['sub/a/b', 'sub', '.', 'sub/..', 'alias', 'alias/a']) {
        assert.equal(await workspace.makeDirectory(path), null, path);
      }
      assert.equal((await failureOf(() => workspace.makeDirectory('file'))).code, 'E_FILE_IO');
      assert.equal((await failureOf(() => workspace.makeDirectory('file/x'))).code, 'E_FILE_IO');
      assert.equal((await failureOf(() => workspace.makeDirectory('leak/x'))).code, 'E_POLICY');
      assert.equal((await failureOf(() => workspace.makeDirectory('x/.git/y'))).code, 'E_POLICY');
      assert.ok(!existsSync(at('x')));
      assert.deepEqual(
        (await workspace.readDirectory('.')).toSorted((left, right) => (left.name < right.name ? -1 : 1)),
        [
          { name: 'alias', type: 'symlink' },
          { name: 'file', type: 'file' },
          { name: 'leak', type: 'symlink' },
          { name: 'sub', type: 'directory' },
        ],
      );
      assert.deepEqual(await workspace.readDirectory('alias/a'), [{ name: 'b', type: 'directory' }]);
      for (const [path, code] of [
        ['file', 'E_FILE_IO'],
        ['missing', 'E_FILE_IO'],
        ['leak', 'E_POLICY'],
      ] as const) {
        assert.equal((await failureOf(() => workspace.readDirectory(path))).code, code);
      }
    });
  });
}
