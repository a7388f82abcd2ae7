import assert from 'node:assert/strict';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import type { GoverningPlace } from '../../contracts/governing.ts';
import { createCommandRunner } from '../commands/command-runner.ts';
import { openRoot } from '../descriptors/root.ts';
import { createWorkspace, type FileWorkspace } from '../files/workspace.ts';
import { createGoverningFiles } from './governing-files.ts';
import { heldFolder } from './held-folder-root.ts';

const CANARY = 'CANARY';
const BYTES = Buffer.from('changed');
const WRITE = { overwrite: true, createDirs: true, preserveMode: true };

function scene(t: TestContext, places: (base: string) => readonly GoverningPlace[]) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'governing-unit-')));
  const inside = join(base, 'work');
  mkdirSync(join(inside, 'ops/deep'), { recursive: true });
  mkdirSync(join(inside, 'store/hooks'), { recursive: true });
  mkdirSync(join(inside, 'plain/inner'), { recursive: true });
  for (const name of ['ops/deep/own.yaml', 'ops/deep/token', 'ops/deep/twin', 'plain/file', 'store/config']) {
    writeFileSync(join(inside, name), name.endsWith('token') ? CANARY : 'version: 1\n');
  }
  const root = openRoot(inside);
  const governing = createGoverningFiles({ places: places(base) });
  const workspace = createWorkspace(root, { governing });
  t.after(() => {
    workspace.close();
    root.close();
    rmSync(base, { recursive: true, force: true });
  });
  return { base, inside, root, workspace, governing };
}

const own = (base: string): readonly GoverningPlace[] => [
  { path: join(base, 'work/ops/deep/own.yaml'), access: 'read' },
  { path: join(base, 'work/ops/deep/token'), access: 'none' },
  { path: join(base, 'work/store'), access: 'git' },
];

async function outcome(action: () => unknown): Promise<string> {
  try {
    await action();
    return 'done';
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return thrown.code === 'E_POLICY' ? String(thrown.details?.['reason']) : thrown.message;
  }
}

/** Every operation that changes one name. */
const CHANGES: Readonly<Record<string, (workspace: FileWorkspace, path: string) => unknown>> = {
  write: (workspace, path) => workspace.writeFile(path, BYTES, { createDirs: true }),
  remove: (workspace, path) => workspace.remove(path, { recursive: true }),
  'move away': (workspace, path) => workspace.move(path, 'moved', WRITE),
  'move over': (workspace, path) => workspace.move('plain/file', path, WRITE),
  'copy over': (workspace, path) => workspace.copy('plain/file', path, WRITE),
};

describe('a governing file', () => {
  for (const [name, change] of Object.entries(CHANGES)) {
    test(`cannot be changed under any name: ${name}`, async (t) => {
      const { inside, workspace } = scene(t, own);
      linkSync(join(inside, 'ops/deep/own.yaml'), join(inside, 'alias'));
      symlinkSync('ops/deep', join(inside, 'through'));
      const before = lstatSync(join(inside, 'ops/deep/own.yaml')).ino;
      const paths = [
        'ops/deep/own.yaml',
        'plain/../ops/deep/own.yaml',
        'through/own.yaml',
        'alias',
        'ops/deep/OWN.yaml',
      ];
      for (const path of paths) {
        assert.equal(await outcome(() => change(workspace, path)), 'governing_file', path);
      }
      assert.equal(lstatSync(join(inside, 'ops/deep/own.yaml')).ino, before);
      assert.equal(readFileSync(join(inside, 'ops/deep/own.yaml'), 'utf8'), 'version: 1\n');
      assert.equal(await outcome(() => change(workspace, 'ops/deep/twin')), 'done');
    });
  }

  test('keeps the folders and links that lead to it where they are', async (t) => {
    const { inside, workspace } = scene(t, (base) => [{ path: join(base, 'work/by/link/own.yaml'), access: 'read' }]);
    mkdirSync(join(inside, 'by'));
    symlinkSync('../ops/deep', join(inside, 'by/link'));
    for (const path of ['by', 'by/link', 'ops', 'ops/deep']) {
      assert.equal(await outcome(() => workspace.remove(path, { recursive: true })), 'governing_file', path);
      assert.equal(await outcome(() => workspace.move(path, 'moved', WRITE)), 'governing_file', path);
    }
    assert.equal(await outcome(() => workspace.copy('plain', 'ops', WRITE)), 'governing_file');
    assert.equal(await outcome(() => workspace.move('plain', 'moved', WRITE)), 'done');
  });

  test('that is missing, or was replaced since, is protected by its name in its folder', async (t) => {
    const { inside, workspace } = scene(t, (base) => [
      { path: join(base, 'work/ops/deep/own.yaml'), access: 'read' },
      { path: join(base, 'work/new/lock'), access: 'read' },
    ]);
    writeFileSync(join(inside, 'draft'), 'edited');
    renameSync(join(inside, 'draft'), join(inside, 'ops/deep/own.yaml'));
    linkSync(join(inside, 'ops/deep/own.yaml'), join(inside, 'alias'));
    assert.equal(await outcome(() => workspace.writeFile('alias', BYTES)), 'governing_file');
    rmSync(join(inside, 'ops/deep/own.yaml'));
    assert.equal(await outcome(() => workspace.writeFile('ops/deep/own.yaml', BYTES)), 'governing_file');
    assert.equal(await outcome(() => workspace.writeFile('alias', BYTES)), 'done');
    assert.equal(await outcome(() => workspace.writeFile('new/lock', BYTES, { createDirs: true })), 'governing_file');
    assert.equal(await outcome(() => workspace.writeFile('new/other', BYTES, { createDirs: true })), 'done');
    assert.equal(await outcome(() => workspace.writeFile('new/lock', BYTES)), 'governing_file');
  });

  test('inside a tree keeps the tree from being moved or removed, and from being copied only when it is secret', async (t) => {
    const { inside, workspace } = scene(t, own);
    mkdirSync(join(inside, 'tree'));
    linkSync(join(inside, 'ops/deep/own.yaml'), join(inside, 'tree/alias'));
    assert.equal(await outcome(() => workspace.remove('tree', { recursive: true })), 'governing_file');
    assert.equal(await outcome(() => workspace.move('tree', 'moved', WRITE)), 'governing_file');
    assert.equal(await outcome(() => workspace.copy('plain', 'tree', WRITE)), 'governing_file');
    assert.equal(await outcome(() => workspace.copy('tree', 'copied', WRITE)), 'done');
    linkSync(join(inside, 'ops/deep/token'), join(inside, 'tree/second'));
    assert.equal(await outcome(() => workspace.copy('tree', 'again', WRITE)), 'governing_file');
    assert.equal(existsSync(join(inside, 'again')), false);
    rmSync(join(inside, 'tree'), { recursive: true });
    mkdirSync(join(inside, 'tree'));
    assert.equal(await outcome(() => workspace.remove('tree', { recursive: true })), 'done');
  });

  test('in a governing folder nothing is made, and no child works there', async (t) => {
    const { inside, root, workspace, governing } = scene(t, own);
    symlinkSync('store', join(inside, 'through'));
    for (const path of ['store/new', 'store/hooks/new', 'through/new', 'store/config']) {
      assert.equal(await outcome(() => workspace.writeFile(path, BYTES)), 'governing_file', path);
      assert.equal((await outcome(() => workspace.makeDirectory(`${path}/folder`))) === 'done', false, path);
    }
    for (const folder of ['store', 'store/hooks', 'through', 'through/hooks', 'plain/../store']) {
      assert.equal(await outcome(() => heldFolder(root, folder, governing)), 'governing_file', folder);
    }
    mkdirSync(join(inside, 'plain/.git/hooks'), { recursive: true });
    assert.equal(await outcome(() => heldFolder(root, 'plain/.git/hooks', governing)), 'protected_name');
    const child = heldFolder(root, 'plain', governing);
    child?.root.close();
    assert.equal(child?.prefix, 'plain');
  });
});

describe('a secret of the runtime', () => {
  test('is not read under any name, nor found by a search, nor copied', async (t) => {
    const { inside, workspace } = scene(t, own);
    linkSync(join(inside, 'ops/deep/token'), join(inside, 'alias'));
    symlinkSync('ops/deep/token', join(inside, 'link'));
    for (const path of ['ops/deep/token', 'alias', 'link', 'plain/../alias']) {
      assert.equal(await outcome(() => workspace.readFile(path)), 'secret_file', path);
    }
    assert.equal(await outcome(() => workspace.copy('alias', 'stolen', WRITE)), 'governing_file');
    writeFileSync(join(inside, 'mine'), `my ${CANARY}`);
    const query = {
      pattern: CANARY,
      globs: [],
      fixed: true,
      caseSensitive: true,
      context: 0,
      maxResults: 10,
      word: false,
      multiline: false,
    };
    const options = { includeHidden: true, includeIgnored: true, maxLineLength: 100 };
    const { matches } = await workspace.search({ ...query, ...options });
    assert.deepEqual(
      matches.map(({ file }) => file),
      ['mine'],
    );
    assert.equal(await outcome(() => workspace.readFile('ops/deep/own.yaml')), 'done');
  });

  test('folder that lies in a further root is neither read nor changed there', async (t) => {
    const { base, root } = scene(t, () => []);
    mkdirSync(join(base, 'more/state'), { recursive: true });
    mkdirSync(join(base, 'more/beside'), { recursive: true });
    for (const name of ['state/key', 'beside/key']) writeFileSync(join(base, 'more', name), CANARY);
    const governing = createGoverningFiles({ places: [{ path: join(base, 'more/state'), access: 'none' }] });
    const workspace = createWorkspace(root, {
      governing,
      extraRoots: [{ name: 'more', path: join(base, 'more'), access: 'write' }],
    });
    t.after(() => workspace.close());
    assert.equal(await outcome(() => workspace.readFile('@more/state/key')), 'secret_file');
    assert.equal(await outcome(() => workspace.writeFile('@more/state/new', BYTES)), 'governing_file');
    assert.equal(await outcome(() => workspace.copy('@more/state/key', 'stolen', WRITE)), 'governing_file');
    assert.equal(await outcome(() => workspace.copy('@more/state', 'stolen', WRITE)), 'governing_file');
    for (const name of ['state', 'state/inner', 'state/../state/inner', 'link']) {
      mkdirSync(join(base, 'more/state/inner'), { recursive: true });
      rmSync(join(base, 'more/link'), { force: true });
      symlinkSync('state/inner', join(base, 'more/link'));
      const extraRoots = [{ name: 'inside', path: join(base, 'more', name), access: 'write' as const }];
      assert.equal(await outcome(() => createWorkspace(root, { governing, extraRoots })), 'governing_file', name);
    }
    assert.equal(await outcome(() => workspace.readFile('@more/beside/key')), 'done');
    assert.equal(await outcome(() => workspace.writeFile('@more/beside/new', BYTES)), 'done');
  });
});

test('a command neither changes nor reads what governs, at any depth, and works on what lies beside it', async (t) => {
  const { base, inside } = scene(t, own);
  const state = join(base, 'state');
  const runner = createCommandRunner({
    workspace: inside,
    state,
    isolation: 'bubblewrap',
    allowedDomains: [],
    governing: own(base),
  });
  t.after(() => runner.close());
  const script = [
    'cd ops/deep',
    'echo evil > own.yaml; rm -f own.yaml; mv twin own.yaml; cat token; cp token stolen; echo x > ../../store/config',
    'cd ../..; mv ops moved; mv ops/deep deep; mkdir -p ops/deep; echo made > ops/deep/made; exit 0',
  ].join('\n');
  const list = { pipelines: [{ operator: null, commands: [{ argv: ['sh', '-c', script], column: 1 }] }] };
  const request = { list, cwd: '.', env: {}, stdin: null, network: false, maxOutputBytes: 10_000 };
  const { stdout } = await (await runner.start(request)).done;
  assert.equal(stdout.text.includes(CANARY), false);
  assert.equal(readFileSync(join(inside, 'ops/deep/own.yaml'), 'utf8'), 'version: 1\n');
  assert.equal(readFileSync(join(inside, 'ops/deep/token'), 'utf8'), CANARY);
  assert.equal(readFileSync(join(inside, 'store/config'), 'utf8'), 'version: 1\n');
  assert.equal(readFileSync(join(inside, 'ops/deep/made'), 'utf8'), 'made\n');
});
