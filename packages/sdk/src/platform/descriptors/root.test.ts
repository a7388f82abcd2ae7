/** Both back ends on the same random trees: they must agree with each other and with a model that has no file system. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { errnoCode } from '../errno-error.ts';
import { O_PATH } from '../open-flags.ts';
import type { RelativePath } from './path-rules.ts';
import { openRoot, type Root } from './root.ts';

const BACKENDS = ['openat2', 'walk'] as const;

const run = promisify(execFile);
const readText = (path: string): string => readFileSync(path, 'utf8');

function scratch(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'root-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

interface Node {
  readonly kind: 'directory' | 'file' | 'link';
  readonly location: string;
  readonly parent: Node | undefined;
  readonly children: Map<string, Node>;
  readonly target: string;
}

interface PlannedNode {
  readonly parent: number;
  readonly name: string;
  readonly kind: Node['kind'];
  readonly target: string;
}

const names = fc.constantFrom('a', 'b', 'c');
const steps = fc.oneof(
  { weight: 6, arbitrary: names },
  { weight: 3, arbitrary: fc.constant('..') },
  fc.constantFrom('.', ''),
);
const relativeText = fc
  .tuple(fc.array(steps, { minLength: 1, maxLength: 6 }), fc.constantFrom('', '', '/'))
  .map(([parts, end]) => parts.join('/').replace(/^\/+/, '') + end)
  .filter((text) => text !== '' && text !== '/');
const linkText = fc.oneof(
  { weight: 8, arbitrary: relativeText },
  { weight: 1, arbitrary: relativeText.map((text) => `/${text}`) },
);
const plan: fc.Arbitrary<PlannedNode[]> = fc.array(
  fc.record({
    parent: fc.nat(20),
    name: names,
    kind: fc.constantFrom('directory', 'directory', 'file', 'link', 'link'),
    target: linkText,
  }),
  { maxLength: 14 },
);

function plant(directory: string, planned: readonly PlannedNode[]): Node {
  const top: Node = { kind: 'directory', location: '', parent: undefined, children: new Map(), target: '' };
  const directories = [top];
  for (const { parent, name, kind, target } of planned) {
    const holder = directories[parent % directories.length] as Node;
    if (holder.children.has(name)) continue;
    const node: Node = { kind, location: join(holder.location, name), parent: holder, children: new Map(), target };
    holder.children.set(name, node);
    const place = join(directory, node.location);
    if (kind === 'directory') {
      directories.push(node);
      mkdirSync(place);
    } else if (kind === 'file') writeFileSync(place, node.location);
    else symlinkSync(target, place);
  }
  return top;
}

/** The rules in words of a tree: answers the node reached, or the errno. */
function resolveInModel(top: Node, path: string, flags: number): Node | string {
  const state = { links: 0 };
  const isPathOnly = (flags & O_PATH) !== 0;
  const noFollow = (flags & constants.O_NOFOLLOW) !== 0;
  const visit = (from: Node, text: string, isFinal: boolean): Node | string => {
    if (text.startsWith('/')) return 'EXDEV';
    const parts = text.split('/').filter((part) => part !== '' && part !== '.');
    const wantsDirectory = /\/\.?$/.test(text);
    let here = from;
    for (const [index, part] of parts.entries()) {
      if (here.kind !== 'directory') return 'ENOTDIR';
      if (part === '..') {
        if (here.parent === undefined) return 'EXDEV';
        here = here.parent;
        continue;
      }
      const next = here.children.get(part);
      if (next === undefined) return 'ENOENT';
      const isLast = isFinal && index === parts.length - 1 && !wantsDirectory;
      if (next.kind !== 'link' || (isLast && noFollow)) {
        here = next;
        continue;
      }
      state.links += 1;
      if (state.links > 40) return 'ELOOP';
      const reached = visit(here, next.target, isLast);
      if (typeof reached === 'string') return reached;
      here = reached;
    }
    return wantsDirectory && here.kind !== 'directory' ? 'ENOTDIR' : here;
  };
  const found = visit(top, path, true);
  if (typeof found === 'string') return found;
  if ((flags & constants.O_DIRECTORY) !== 0 && found.kind !== 'directory') return 'ENOTDIR';
  return found.kind === 'link' && !isPathOnly ? 'ELOOP' : found;
}

function attempt(root: Root, path: string, flags: number): string {
  try {
    const fd = root.openBeneath(path as RelativePath, flags);
    const { ino } = fstatSync(fd, { bigint: true });
    closeSync(fd);
    return `inode ${ino}`;
  } catch (thrown) {
    return errnoCode(thrown) ?? String(thrown);
  }
}

const FLAGS = [
  O_PATH,
  O_PATH | constants.O_NOFOLLOW,
  O_PATH | constants.O_DIRECTORY,
  O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW,
  constants.O_RDONLY,
  constants.O_RDONLY | constants.O_NOFOLLOW,
  constants.O_RDONLY | constants.O_DIRECTORY,
];

describe('the two back ends [S0-14]', () => {
  test('agree with the model and each other on random trees, links and paths [S0-14] (deep)', (t) => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(plan, fc.array(relativeText, { minLength: 1, maxLength: 12 }), (planned, paths) => {
        const directory = mkdtempSync(join(tmpdir(), 'tree-'));
        const roots = BACKENDS.map((backend) => openRoot(directory, { backend }));
        try {
          const top = plant(directory, planned);
          for (const path of paths) {
            for (const flags of FLAGS) {
              const found = resolveInModel(top, path, flags);
              const expected =
                typeof found === 'string'
                  ? found
                  : `inode ${lstatSync(join(directory, found.location), { bigint: true }).ino}`;
              seen.add(typeof found === 'string' ? found : found.kind);
              for (const root of roots) {
                assert.equal(attempt(root, path, flags), expected, `${root.backend} ${path} ${flags.toString(8)}`);
              }
            }
          }
        } finally {
          for (const root of roots) root.close();
          rmSync(directory, { recursive: true });
        }
      }),
      { numRuns: 250 },
    );
    t.diagnostic([...seen].join(' '));
    // Every kind of answer came up, or the trees prove little.
    assert.deepEqual([...seen].sort(), ['ELOOP', 'ENOENT', 'ENOTDIR', 'EXDEV', 'directory', 'file', 'link']);
  });

  test('create the same files on random trees, and only inside [S0-14]', () => {
    const flags = [constants.O_CREAT | constants.O_RDWR, constants.O_CREAT | constants.O_EXCL | constants.O_RDWR];
    fc.assert(
      fc.property(plan, fc.array(relativeText, { minLength: 1, maxLength: 8 }), (planned, paths) => {
        const directory = mkdtempSync(join(tmpdir(), 'tree-'));
        const roots = BACKENDS.map((backend) => openRoot(directory, { backend }));
        const create = (root: Root, path: string, flag: number): string => {
          try {
            const fd = root.openBeneath(path as RelativePath, flag, 0o644);
            const place = readlinkSync(`/proc/self/fd/${fd}`);
            const isNew = fstatSync(fd).size === 0;
            closeSync(fd);
            assert.ok(place.startsWith(`${directory}/`));
            if (isNew) unlinkSync(place);
            return `${isNew ? 'new' : 'old'} ${place}`;
          } catch (thrown) {
            return errnoCode(thrown) ?? String(thrown);
          }
        };
        try {
          plant(directory, planned);
          for (const path of paths) {
            for (const flag of flags) {
              const [kernel, walk] = roots.map((root) => create(root, path, flag));
              assert.equal(walk, kernel, path);
            }
          }
        } finally {
          for (const root of roots) root.close();
          rmSync(directory, { recursive: true });
        }
      }),
      { numRuns: 150 },
    );
  });

  for (const backend of BACKENDS) {
    const open = (t: TestContext, directory: string): Root => {
      const root = openRoot(directory, { backend });
      t.after(root.close);
      return root;
    };

    test(`${backend} follows forty links and refuses the forty-first [S0-14]`, (t) => {
      const directory = scratch(t);
      writeFileSync(join(directory, 'link0'), 'end');
      for (let index = 1; index <= 41; index++) symlinkSync(`link${index - 1}`, join(directory, `link${index}`));
      const root = open(t, directory);
      assert.match(attempt(root, 'link40', constants.O_RDONLY), /^inode/);
      assert.equal(attempt(root, 'link41', constants.O_RDONLY), 'ELOOP');
    });

    test(`${backend} refuses an absolute path, and takes it without its slash [S0-14]`, (t) => {
      const directory = scratch(t);
      writeFileSync(join(directory, 'file'), '');
      const root = open(t, directory);
      assert.equal(attempt(root, '/file', constants.O_RDONLY), 'EXDEV');
      assert.match(attempt(root, 'file', constants.O_RDONLY), /^inode/);
    });

    test(`${backend} never follows a magic link of procfs [S0-14]`, (t) => {
      const root = open(t, '/proc/self');
      assert.equal(attempt(root, 'root/etc', O_PATH), 'ELOOP');
      assert.equal(attempt(root, 'cwd', constants.O_RDONLY), 'ELOOP');
      assert.equal(attempt(root, 'fd/0', constants.O_RDONLY), 'ELOOP');
      assert.match(attempt(root, 'status', constants.O_RDONLY), /^inode/);
    });

    test(`${backend} keeps working when the directory is renamed, and stops when closed [S0-14]`, (t) => {
      const parent = scratch(t);
      mkdirSync(join(parent, 'before'));
      writeFileSync(join(parent, 'before', 'file'), '');
      const root = open(t, join(parent, 'before'));
      renameSync(join(parent, 'before'), join(parent, 'after'));
      assert.match(attempt(root, 'file', constants.O_RDONLY), /^inode/);
      root.close();
      assert.equal(attempt(root, 'file', constants.O_RDONLY), 'EBADF');
    });

    test(`${backend} gives descriptors that no child inherits and that never wait [S0-14]`, (t) => {
      const directory = scratch(t);
      writeFileSync(join(directory, 'file'), '');
      const fd = open(t, directory).openBeneath('file' as RelativePath, constants.O_RDONLY);
      t.after(() => closeSync(fd));
      const flags = Number.parseInt(/flags:\s*(\d+)/.exec(readText(`/proc/self/fdinfo/${fd}`))?.[1] ?? '0', 8);
      assert.equal(flags & 0o2000000, 0o2000000);
      assert.equal(flags & constants.O_NONBLOCK, constants.O_NONBLOCK);
    });

    test(`${backend} leaks no descriptor, whether a path opens or fails [S0-14]`, (t) => {
      const directory = scratch(t);
      mkdirSync(join(directory, 'a/b'), { recursive: true });
      symlinkSync('../../..', join(directory, 'a/b/out'));
      symlinkSync('b', join(directory, 'a/in'));
      const root = open(t, directory);
      const count = (): number => readdirSync('/proc/self/fd').length;
      attempt(root, 'a/in', O_PATH);
      const before = count();
      for (const path of ['a/in/../b', 'a/b/out/x', 'a/b/missing', 'a/b/../../..', 'a/in/', 'a/in'])
        attempt(root, path, O_PATH);
      assert.equal(count(), before);
    });

    test(`${backend} renames without replacing, and replaces when told to [S0-14]`, (t) => {
      const directory = scratch(t);
      const root = open(t, directory);
      const entry = (name: string) => root.openParent(name as RelativePath);
      for (const name of ['one', 'two']) writeFileSync(join(directory, name), name);
      mkdirSync(join(directory, 'folder'));
      const [one, two, three, folder, moved] = ['one', 'two', 'three', 'folder', 'moved'].map(entry);
      assert.ok(one && two && three && folder && moved);
      assert.throws(() => root.rename(one, two, 'noreplace'), { code: 'EEXIST' });
      assert.throws(() => root.rename(folder, two, 'noreplace'), { code: 'EEXIST' });
      root.rename(one, three, 'noreplace');
      root.rename(folder, moved, 'noreplace');
      root.rename(three, two, 'replace');
      assert.deepEqual(readdirSync(directory).sort(), ['moved', 'two']);
      assert.equal(readText(join(directory, 'two')), 'one');
      for (const held of [one, two, three, folder, moved]) held.close();
    });

    test(`${backend} opens the parent of a name, and has none for a path that ends in a directory step [S0-14]`, (t) => {
      const directory = scratch(t);
      mkdirSync(join(directory, 'a'));
      const root = open(t, directory);
      const parent = root.openParent('a/new' as RelativePath);
      assert.deepEqual([parent.name, root.locate(parent.dirFd)], ['new', ['a']]);
      parent.close();
      for (const path of ['.', 'a/..', '..'])
        assert.throws(() => root.openParent(path as RelativePath), { code: 'EISDIR' });
    });
  }
});

test('a root that cannot be held is refused at the start, a folder is accepted [S0-14]', (t) => {
  const directory = scratch(t);
  writeFileSync(join(directory, 'file'), '');
  for (const bad of [join(directory, 'missing'), join(directory, 'file')]) {
    assert.throws(() => openRoot(bad), { code: 'E_POLICY', message: /^Workspace folder cannot be opened/ });
  }
  const root = openRoot(directory);
  assert.equal(root.backend, 'openat2');
  root.close();
});

test('without koffi the walk takes over, and openat2 by name is refused [S0-14]', async (t) => {
  const platform = new URL('.', import.meta.url).href;
  const script = `
    const { Module } = await import('node:module');
    const resolve = Module._resolveFilename;
    Module._resolveFilename = (name, ...rest) => {
      if (name === 'koffi') throw new TypeError('not installed');
      return resolve(name, ...rest);
    };
    const { openRoot } = await import('${platform}root.ts');
    const codes = [];
    try { openRoot('.', { backend: 'openat2' }); } catch (thrown) { codes.push(thrown.code); }
    console.log(openRoot('.').backend, ...codes);`;
  const { stdout } = await run(process.execPath, ['-C', 'tool-runtime-source', '--input-type=module', '-e', script], {
    cwd: scratch(t),
  });
  assert.equal(stdout, 'walk E_POLICY\n');
});
