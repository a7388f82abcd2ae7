/** Layouts an attacker can prepare, each beside a harmless twin, through every operation on both back ends. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import { openRoot } from '../descriptors/root.ts';
import { createGoverningFiles } from '../protection/governing-files.ts';
import { createWorkspace, type FileWorkspace, type WorkspaceOptions } from './workspace.ts';

const BACKENDS = ['openat2', 'walk'] as const;
const MAKE_FIFO = 'mkfifo';
const SECRET = 'canary outside the workspace';

interface Scene {
  readonly inside: string;
  readonly outside: string;
  readonly workspace: FileWorkspace;
}

function scene(t: TestContext, backend: 'openat2' | 'walk', options: WorkspaceOptions = {}): Scene {
  const base = mkdtempSync(join(tmpdir(), 'workspace-'));
  const inside = join(base, 'work');
  const outside = join(base, 'work-evil');
  mkdirSync(join(inside, 'sub/deep'), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(inside, 'inside.txt'), 'inside');
  writeFileSync(join(inside, 'sub/inside.txt'), 'inside');
  writeFileSync(join(outside, 'secret.txt'), SECRET);
  const root = openRoot(inside, { backend });
  const workspace = createWorkspace(root, options);
  t.after(() => {
    workspace.close();
    root.close();
    rmSync(base, { recursive: true, force: true });
  });
  return { inside, outside, workspace };
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

interface Layout {
  readonly what: string;
  build?(place: { inside: string; outside: string }): void;
  readonly hostile: string | ((place: { outside: string }) => string);
  /** The harmless twin: the same shape, staying inside. */
  readonly twin: string;
  /** The last component is a link, which lstat and remove take for what it is. */
  readonly endsInLink?: boolean;
  /** Plain file calls reach the canary through it. */
  readonly isRealEscape?: boolean;
}

const link = (target: string, ...place: string[]): void => symlinkSync(target, join(...place));

const LAYOUTS: readonly Layout[] = [
  { what: '`..` out of the root', hostile: '../work-evil/secret.txt', twin: 'sub/../inside.txt', isRealEscape: true },
  {
    what: '`..` deep inside',
    hostile: 'sub/deep/../../../work-evil/secret.txt',
    twin: 'sub/deep/../../inside.txt',
    isRealEscape: true,
  },
  { what: 'an absolute path', hostile: ({ outside }) => join(outside, 'secret.txt'), twin: 'inside.txt' },
  { what: 'a drive letter', hostile: 'C:\\work\\secret.txt', twin: 'inside.txt' },
  { what: 'a network share', hostile: '\\\\host\\share\\secret.txt', twin: 'inside.txt' },
  {
    what: 'a relative link to an outside file',
    build({ inside }) {
      link('../work-evil/secret.txt', inside, 'leak');
      link('sub/inside.txt', inside, 'alias');
    },
    hostile: 'leak',
    twin: 'alias',
    endsInLink: true,
    isRealEscape: true,
  },
  {
    what: 'an absolute link to an outside file',
    build({ inside, outside }) {
      link(join(outside, 'secret.txt'), inside, 'leak');
      link('./sub/../inside.txt', inside, 'alias');
    },
    hostile: 'leak',
    twin: 'alias',
    endsInLink: true,
    isRealEscape: true,
  },
  {
    what: 'an absolute link to an inside file',
    build({ inside }) {
      link(join(inside, 'inside.txt'), inside, 'leak');
      link('inside.txt', inside, 'alias');
    },
    hostile: 'leak',
    twin: 'alias',
    endsInLink: true,
  },
  {
    what: 'a linked folder in the middle',
    build({ inside }) {
      link('../work-evil', inside, 'leak');
      link('sub', inside, 'alias');
      writeFileSync(join(inside, 'sub/secret.txt'), 'not secret');
    },
    hostile: 'leak/secret.txt',
    twin: 'alias/secret.txt',
    isRealEscape: true,
  },
  {
    what: 'a chain of links',
    build({ inside }) {
      link('two', inside, 'one');
      link('sub/three', inside, 'two');
      link('../../work-evil', inside, 'sub/three');
      link('deep/four', inside, 'sub/four');
      link('../inside.txt', inside, 'sub/deep/four');
    },
    hostile: 'one/secret.txt',
    twin: 'sub/four',
    isRealEscape: true,
  },
  {
    what: 'a link that leads to itself',
    build({ inside }) {
      link('loop', inside, 'loop');
      link('inside.txt', inside, 'alias');
    },
    hostile: 'loop',
    twin: 'alias',
    endsInLink: true,
  },
  {
    what: 'a link through procfs',
    build({ inside, outside }) {
      link(`/proc/self/root${outside}`, inside, 'leak');
      link('sub', inside, 'alias');
    },
    hostile: 'leak/secret.txt',
    twin: 'alias/inside.txt',
    isRealEscape: true,
  },
];

type Operation = readonly [string, (workspace: FileWorkspace, path: string) => unknown];

const OPERATIONS: readonly Operation[] = [
  ['stat', async (workspace, path) => assert.notEqual(await workspace.stat(path), null)],
  ['readFile', (workspace, path) => workspace.readFile(path)],
  ['lockKeys', (workspace, path) => workspace.lockKeys(path)],
  ['writeFile', (workspace, path) => workspace.writeFile(path, Buffer.from('new'), { createDirs: true })],
  ['writeFile of a large file', (workspace, path) => workspace.writeFile(path, Buffer.alloc(1_200_000))],
  [
    'exclusive writeFile',
    (workspace, path) => workspace.writeFile(`${path}.new`, Buffer.from('x'), { exclusive: true }),
  ],
  ['removeFile', async (workspace, path) => assert.notEqual(await workspace.removeFile(path), null)],
];

const JUDGES_THE_LINK_ITSELF = new Set(['stat', 'lockKeys', 'removeFile', 'exclusive writeFile']);

for (const backend of BACKENDS) {
  describe(`the workspace on ${backend}`, () => {
    for (const layout of LAYOUTS) {
      test(`every operation refuses ${layout.what} and takes its twin [S0-14 S0-34]`, async (t) => {
        for (const [name, operate] of OPERATIONS) {
          const { inside, outside, workspace } = scene(t, backend);
          layout.build?.({ inside, outside });
          const hostile = typeof layout.hostile === 'string' ? layout.hostile : layout.hostile({ outside });
          if (layout.isRealEscape) assert.equal(readFileSync(join(inside, hostile), 'utf8'), SECRET);

          if (!(layout.endsInLink && JUDGES_THE_LINK_ITSELF.has(name))) {
            const refused = await failureOf(() => operate(workspace, hostile));
            assert.equal(refused.code, 'E_POLICY', `${name}: ${refused.message}`);
            assert.equal(refused.details['rule'], 'sec.paths.sandbox');
            const shown = JSON.stringify(refused.toEntry()).replaceAll(JSON.stringify(hostile).slice(1, -1), '');
            assert.ok(!shown.includes(inside) && !shown.includes(SECRET), shown);
          }
          await operate(workspace, layout.twin);
          assert.deepEqual(readdirSync(outside), ['secret.txt'], name);
          assert.equal(readFileSync(join(outside, 'secret.txt'), 'utf8'), SECRET, name);
        }
      });
    }

    test('a new file below a folder that leaves is refused with its missing folders, inside it is made [S0-14]', async (t) => {
      const { inside, outside, workspace } = scene(t, backend);
      link('../work-evil', inside, 'leak');
      link('sub', inside, 'alias');
      const write = (path: string): unknown => workspace.writeFile(path, Buffer.from('x'), { createDirs: true });
      assert.equal((await failureOf(() => write('leak/new/leaf'))).code, 'E_POLICY');
      assert.equal((await failureOf(() => write('leak/leaf'))).code, 'E_POLICY');
      await write('alias/new/leaf');
      assert.deepEqual(readdirSync(outside), ['secret.txt']);
      assert.equal(readFileSync(join(inside, 'sub/new/leaf'), 'utf8'), 'x');
    });

    test('FIFOs, sockets and folders are refused without waiting, a file is read [S0-30]', async (t) => {
      const { inside, workspace } = scene(t, backend);
      execFileSync(MAKE_FIFO, [join(inside, 'fifo')]);
      const server = createServer().listen(join(inside, 'socket'));
      t.after(() => server.close());
      await once(server, 'listening');
      for (const special of ['fifo', 'socket', 'sub']) {
        for (const action of [
          () => workspace.readFile(special),
          () => workspace.writeFile(special, Buffer.from('x')),
          () => workspace.removeFile(special),
        ]) {
          const refused = await failureOf(action);
          assert.equal(refused.code, 'E_FILE_IO', special);
          assert.match(refused.message, /^(Not a regular file|Path is a directory): /);
        }
      }
      assert.equal((await workspace.stat('fifo'))?.type, 'other');
      assert.equal(Buffer.from((await workspace.readFile('inside.txt')).bytes).toString(), 'inside');
    });

    test('devices are refused: reading one would never end [S0-30]', async (t) => {
      const root = openRoot('/dev', { backend });
      t.after(root.close);
      const refused = await failureOf(() => createWorkspace(root).readFile('zero'));
      assert.equal(refused.message, 'Not a regular file: zero');
    });

    test('the digest covers the whole file, however much is returned, small or streamed [S0-30]', async (t) => {
      const { inside, workspace } = scene(t, backend);
      for (const size of [0, 1, 1024, 256 * 1024, 256 * 1024 + 1, 3_000_001]) {
        const bytes = Buffer.alloc(size, 'abcdefg');
        writeFileSync(join(inside, 'file'), bytes);
        chmodSync(join(inside, 'file'), 0o640);
        const sha256 = createHash('sha256').update(bytes).digest('hex');
        for (const maxBytes of [1, 1000, size, size + 1]) {
          const read = await workspace.readFile('file', { maxBytes });
          assert.deepEqual(
            { ...read, bytes: Buffer.compare(read.bytes, bytes.subarray(0, maxBytes)) },
            { bytes: 0, size, mode: 0o640, sha256, truncated: size > maxBytes },
          );
        }
      }
    });

    test('a small file is read without a promise, a large one with [S0-30]', async (t) => {
      const { inside, workspace } = scene(t, backend);
      writeFileSync(join(inside, 'large'), Buffer.alloc(1_200_000));
      const large = workspace.readFile('large');
      assert.ok(!(workspace.readFile('inside.txt') instanceof Promise));
      assert.ok(large instanceof Promise);
      await large;
    });

    test('a file that shrinks while it is streamed gives what was there, one that grows what it was [S0-30]', async (t) => {
      const { inside, workspace } = scene(t, backend);
      const path = join(inside, 'file');
      writeFileSync(path, Buffer.alloc(2_000_000, 'a'));
      const shrinking = workspace.readFile('file');
      truncateSync(path, 1000);
      const shrunk = await shrinking;
      assert.equal(shrunk.bytes.length, shrunk.size);
      assert.equal(shrunk.sha256, createHash('sha256').update(shrunk.bytes).digest('hex'));

      writeFileSync(path, Buffer.alloc(2_000_000, 'a'));
      const growing = workspace.readFile('file');
      writeFileSync(path, 'more', { flag: 'a' });
      assert.equal((await growing).size, 2_000_000);
    });

    test('a streamed read ends when it is cancelled, and gives the reason it was given [S0-30]', async (t) => {
      const { inside, workspace } = scene(t, backend);
      writeFileSync(join(inside, 'file'), Buffer.alloc(2_000_000));
      const controller = new AbortController();
      const reading = workspace.readFile('file', { signal: controller.signal });
      controller.abort();
      const refused = await failureOf(() => reading);
      assert.deepEqual([refused.code, refused.details['reason']], ['E_INTERNAL', 'cancelled']);
      assert.equal((await workspace.readFile('file', { signal: new AbortController().signal })).size, 2_000_000);
    });

    test('missing files are null for stat and E_FILE_IO for the rest, with the path and never the root [S0-14]', async (t) => {
      const { inside, workspace } = scene(t, backend);
      assert.equal(await workspace.stat('missing'), null);
      assert.equal(await workspace.stat('inside.txt/below'), null);
      assert.equal(await workspace.removeFile('missing/too'), null);
      const refused = await failureOf(() => workspace.readFile('sub/missing'));
      assert.equal(refused.message, 'File not found: sub/missing');
      assert.ok(!JSON.stringify(refused.toEntry()).includes(inside));
      assert.equal((await failureOf(() => workspace.readFile('inside.txt/below'))).code, 'E_FILE_IO');
    });

    test('every spelling of one file shares a lock key, other files share none [S0-76]', (t) => {
      const { inside, workspace } = scene(t, backend);
      link('sub', inside, 'alias');
      link('sub/inside.txt', inside, 'pointer');
      link('sub/later.txt', inside, 'dangling');
      linkSync(join(inside, 'sub/inside.txt'), join(inside, 'hard'));
      const shares = (left: string, right: string): boolean => {
        const keys = new Set(workspace.lockKeys(left));
        return workspace.lockKeys(right).some((key) => keys.has(key));
      };
      const spellings = [
        'sub/inside.txt',
        './sub//inside.txt',
        'alias/inside.txt',
        'sub/deep/../inside.txt',
        'pointer',
        'hard',
      ];
      for (const left of spellings) for (const right of spellings) assert.ok(shares(left, right), `${left} ${right}`);
      assert.ok(shares('dangling', 'alias/later.txt'));
      assert.ok(shares('new/folder/file', './new/folder/file'));
      assert.ok(shares('alias/new/file', 'sub/new/file'));
      assert.ok(!shares('sub/inside.txt', 'inside.txt'));
      assert.ok(!shares('new/a', 'new/b'));
    });

    test('the same name in two workspaces is not one lock [S0-76]', (t) => {
      const left = scene(t, backend).workspace.lockKeys('inside.txt');
      const right = scene(t, backend).workspace.lockKeys('inside.txt');
      assert.deepEqual(
        left.filter((key) => right.includes(key)),
        [],
      );
    });

    const sensitive = [
      '.git/config',
      '.GIT/config',
      '.git',
      'sub/.Git/hooks/x',
      'tool-runtime.yaml',
      'sub/Tool-Runtime.yaml',
      'tool-runtime.lock',
      'sub/Tool-Runtime.LOCK',
      '.g\u200dit/config',
      '.\uff47it/config',
    ];
    const twins = ['.github/config', '.gitignore', 'sub/git/hooks/x', 'tool-runtime.yaml.md', 'tool-runtime.lock.md'];
    test('protected names are refused for change before they exist, similar names are not [S0-14]', async (t) => {
      const { inside, workspace } = scene(t, backend, {
        governing: createGoverningFiles({ names: ['tool-runtime.yaml'] }),
      });
      for (const createDirs of [true, false]) {
        for (const path of sensitive) {
          const refused = await failureOf(() => workspace.writeFile(path, Buffer.from('x'), { createDirs }));
          assert.deepEqual([refused.code, refused.details['reason']], ['E_POLICY', 'protected_name'], path);
        }
      }
      assert.ok(!existsSync(join(inside, '.git')));
      for (const path of twins) await workspace.writeFile(path, Buffer.from('x'), { createDirs: true });
    });

    test('protected names are found behind `..`, links and link targets, and stay readable [S0-14]', async (t) => {
      const { inside, workspace } = scene(t, backend);
      mkdirSync(join(inside, '.git/hooks'), { recursive: true });
      writeFileSync(join(inside, '.git/config'), 'settings');
      link('.git', inside, 'store');
      link('.git/config', inside, 'settings');
      link('.git/hooks/pre-commit', inside, 'hook');
      for (const path of [
        'sub/../.git/config',
        'store/config',
        'store/hooks/x',
        'settings',
        'hook',
        '.git/hooks/../config',
      ]) {
        const refused = await failureOf(() => workspace.writeFile(path, Buffer.from('x')));
        assert.deepEqual([refused.code, refused.details['reason']], ['E_POLICY', 'protected_name'], path);
      }
      assert.equal((await failureOf(() => workspace.removeFile('store/config'))).code, 'E_POLICY');
      await workspace.writeFile('.git/../inside.txt', Buffer.from('x'));
      assert.equal(Buffer.from((await workspace.readFile('settings')).bytes).toString(), 'settings');
      assert.deepEqual(readdirSync(join(inside, '.git/hooks')), []);
    });

    test('extra roots are reached by name, with the access the host gave, and cannot be left [S0-15]', async (t) => {
      const library = mkdtempSync(join(tmpdir(), 'library-'));
      t.after(() => rmSync(library, { recursive: true, force: true }));
      writeFileSync(join(library, 'file'), 'shelf');
      const { inside, workspace } = scene(t, backend, {
        extraRoots: [
          { name: 'shelf', path: library, access: 'read' },
          { name: 'desk', path: library, access: 'write' },
        ],
      });
      assert.equal(Buffer.from((await workspace.readFile('@shelf/file')).bytes).toString(), 'shelf');
      assert.equal((await workspace.stat('@shelf'))?.type, 'directory');
      assert.equal((await failureOf(() => workspace.writeFile('@shelf/file', Buffer.from('x')))).code, 'E_POLICY');
      assert.equal((await failureOf(() => workspace.readFile('@shelf/../work/inside.txt'))).code, 'E_POLICY');
      assert.equal((await workspace.writeFile('@desk/new', Buffer.from('x'))).path, '@desk/new');
      assert.ok(existsSync(join(library, 'new')));

      // A name the host did not give is an ordinary folder.
      await workspace.writeFile('@types/node.d.ts', Buffer.from('x'), { createDirs: true });
      assert.ok(existsSync(join(inside, '@types/node.d.ts')));
    });

    test('a stat tells of the link itself, and no write ends in a step to the parent [S0-14]', async (t) => {
      const { inside, workspace } = scene(t, backend);
      link('inside.txt', inside, 'alias');
      assert.deepEqual(
        [(await workspace.stat('alias'))?.type, (await workspace.stat('inside.txt'))?.type],
        ['symlink', 'file'],
      );
      for (const path of ['sub/..', 'sub/deep/../..']) {
        assert.equal((await failureOf(() => workspace.writeFile(path, Buffer.from('x')))).details['reason'], 'EISDIR');
      }
      await workspace.writeFile('sub/../inside.txt', Buffer.from('x'));
    });

    test('a read-only workspace reads and refuses every change, in folders the host added too [S0-15]', async (t) => {
      const library = mkdtempSync(join(tmpdir(), 'library-'));
      t.after(() => rmSync(library, { recursive: true, force: true }));
      const { workspace } = scene(t, backend, {
        readOnly: true,
        extraRoots: [{ name: 'desk', path: library, access: 'write' }],
      });
      await workspace.readFile('inside.txt');
      for (const action of [
        () => workspace.writeFile('new', Buffer.from('x')),
        () => workspace.writeFile('@desk/new', Buffer.from('x')),
        () => workspace.removeFile('inside.txt'),
      ]) {
        const refused = await failureOf(action);
        assert.deepEqual([refused.code, refused.details['reason']], ['E_POLICY', 'read_only']);
      }
    });
  });
}
