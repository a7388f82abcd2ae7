import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ToolError } from '@tool-runtime/protocol';
import {
  afterAll,
  digestOf,
  movedFolder,
  plantScene,
  readStates,
  sceneChanges,
} from '../../../test/commit-crash-scene.ts';
import type { PathState, StagedChange } from '../../changes/change-set.ts';
import type { PathRule } from '../../contracts/path-text.ts';
import { createDisk, createFullDisk, type Disk } from '../descriptors/disk.ts';
import { createPlaces } from '../descriptors/places.ts';
import { openRoot } from '../descriptors/root.ts';
import { ErrnoError } from '../errno-error.ts';
import { createGoverningFiles } from '../protection/governing-files.ts';
import { commitChanges } from './commit-changes.ts';
import { createRedoLog } from './redo-log.ts';

const ABSENT: PathState = { kind: 'absent' };

interface SceneOptions {
  readonly readOnly?: boolean;
  readonly rule?: PathRule;
  readonly disk?: Disk;
}

function scene(t: TestContext, { readOnly = false, rule, disk = createDisk() }: SceneOptions = {}) {
  const base = mkdtempSync(join(tmpdir(), 'commit-changes-'));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  const [workspace, state] = [join(base, 'workspace'), join(base, 'state')];
  mkdirSync(workspace);
  mkdirSync(state, { mode: 0o700 });
  const root = openRoot(workspace);
  t.after(() => root.close());
  const places = createPlaces(root, { readOnly, extraRoots: [], disk });
  const ground = { find: (path: string) => places.find(path, rule), guard: createGoverningFiles() };
  const redo = createRedoLog(state, disk);
  const commit = (staged: readonly StagedChange[]) => commitChanges(ground, staged, { disk, redo });
  const left = () => (existsSync(join(state, 'commits')) ? readdirSync(join(state, 'commits')) : []);
  return { base, workspace, commit, left, path: (name: string) => join(workspace, name) };
}

function file(path: string, text: string, before: PathState = ABSENT, mode = 0o644): StagedChange {
  const after: PathState = { kind: 'file', digest: digestOf(text), size: text.length, mode };
  return { path, before, after, source: { bytes: Buffer.from(text) } };
}

/** Two changes, so that the first would show if it were made. */
function pair(second: StagedChange): readonly StagedChange[] {
  return [file('first', 'first\n'), second];
}

function sorted(states: Map<string, PathState>): unknown {
  return [...states].toSorted(([one], [other]) => (one < other ? -1 : 1));
}

test('a commit changes files, folders, links, modes and kinds, and leaves nothing else', async (t) => {
  const { workspace, commit, left } = scene(t);
  plantScene(workspace);
  const staged = sceneChanges(workspace);
  const wanted = afterAll(readStates(workspace), staged);
  await commit(staged);
  assert.deepEqual(sorted(readStates(workspace)), sorted(wanted));
  assert.deepEqual(left(), []);
});

for (const step of ['contentNow', 'settleNow'] as const) {
  test(`a commit whose record cannot be kept (${step}) changes nothing and leaves no record`, async (t) => {
    const fails = (): never => {
      throw new ErrnoError('ENOSPC');
    };
    const { commit, left, path } = scene(t, { disk: { ...createDisk(), [step]: fails } });
    await assert.rejects(commit(pair(file('second', 'second\n'))), { message: /ENOSPC/ });
    assert.deepEqual(left(), []);
    assert.equal(existsSync(path('first')), false);
  });
}

test('under full durability every file and every changed folder is synced, a folder once', async (t) => {
  const full = createFullDisk();
  let contents = 0;
  const folders: string[] = [];
  const disk: Disk = {
    ...full,
    content(fd) {
      contents += 1;
      return full.content(fd);
    },
    settle(held, finish) {
      for (const fd of held) folders.push(readlinkSync(`/proc/self/fd/${fd}`));
      return full.settle(held, finish);
    },
  };
  const { workspace, commit, path } = scene(t, { disk });
  mkdirSync(path('one'));
  mkdirSync(path('other'));
  await commit(['one/a', 'one/b', 'one/c', 'other/a', 'top'].map((name) => file(name, `${name}\n`)));
  assert.equal(contents, 5);
  assert.deepEqual(folders.toSorted(), [workspace, path('one'), path('other')]);
  assert.equal(readFileSync(path('one/b'), 'utf8'), 'one/b\n');
});

test('a commit writes nothing when one path is not as before, and names it', async (t) => {
  const { workspace, commit, path, left } = scene(t);
  writeFileSync(path('a'), 'by hand\n');
  const stale = file('a', 'new\n', { kind: 'file', digest: digestOf('old\n'), size: 4, mode: 0o644 });
  await assert.rejects(commit(pair(stale)), (error: ToolError) => {
    assert.deepEqual([error.details['reason'], error.details['paths']], ['precondition_failed', ['a']]);
    return true;
  });
  await assert.rejects(commit(pair(file('a', 'new\n'))), { code: 'E_FILE_IO' });
  assert.deepEqual([readdirSync(workspace), readFileSync(path('a'), 'utf8'), left()], [['a'], 'by hand\n', []]);
});

test('a commit that fails in the middle takes back what it did', async (t) => {
  const { base, workspace, commit } = scene(t);
  plantScene(workspace);
  writeFileSync(join(base, 'source'), 'other\n');
  const before = readStates(workspace);
  const after: PathState = { kind: 'file', digest: digestOf('promised\n'), size: 9, mode: 0o644 };
  const broken: StagedChange = {
    path: 'made/deep/other',
    before: ABSENT,
    after,
    source: { file: join(base, 'source') },
  };
  await assert.rejects(commit([...sceneChanges(workspace), broken]), { code: 'E_FILE_IO' });
  assert.deepEqual(sorted(readStates(workspace)), sorted(before));
  writeFileSync(join(base, 'source'), 'promised\n');
  await commit([...sceneChanges(workspace), broken]);
  assert.equal(readFileSync(join(workspace, 'made/deep/other'), 'utf8'), 'promised\n');
});

test('a commit follows no link on the way and leaves the workspace nowhere', async (t) => {
  const { base, workspace, commit, path } = scene(t);
  mkdirSync(join(base, 'outside'));
  symlinkSync('../outside', path('link'));
  await assert.rejects(commit(pair(file('link/a', 'a\n'))), { code: 'E_FILE_IO' });
  await assert.rejects(commit(pair(file('../outside/a', 'a\n'))), { code: 'E_POLICY' });
  assert.deepEqual([readdirSync(join(base, 'outside')), readdirSync(workspace)], [[], ['link']]);
  await commit([{ path: 'link', before: { kind: 'link', target: '../outside' }, after: ABSENT }]);
  await commit(pair(file('link', 'now a file\n')));
  assert.equal(readFileSync(path('link'), 'utf8'), 'now a file\n');
});

test('a commit refuses protected files, read-only places and what path rules forbid', async (t) => {
  const protectedFile = scene(t);
  mkdirSync(protectedFile.path('.git'));
  await assert.rejects(protectedFile.commit(pair(file('.git/config', 'x'))), { code: 'E_POLICY' });
  assert.equal(existsSync(protectedFile.path('first')), false);

  const readOnly = scene(t, { readOnly: true });
  await assert.rejects(readOnly.commit(pair(file('a', 'a'))), { code: 'E_POLICY' });
  assert.deepEqual(readdirSync(readOnly.workspace), []);

  const rule: PathRule = {
    check({ location, access }) {
      if (location === 'denied' && access !== 'read') throw new ToolError('E_POLICY', 'denied');
    },
  };
  const ruled = scene(t, { rule });
  await assert.rejects(ruled.commit(pair(file('denied', 'x'))), { code: 'E_POLICY' });
  assert.deepEqual(readdirSync(ruled.workspace), []);
  await ruled.commit(pair(file('allowed', 'x')));
  assert.deepEqual(readdirSync(ruled.workspace), ['allowed', 'first']);
});

test('a commit sets permission bits only', async (t) => {
  const { commit, path } = scene(t);
  await commit(pair(file('tool', 'x', ABSENT, 0o6755)));
  assert.equal(lstatSync(path('tool')).mode & 0o7777, 0o755);
});

test('a new folder is moved as a whole, and taken back as a whole when the commit fails', async (t) => {
  const { base, workspace, commit, path } = scene(t);
  const upper = join(base, 'upper');
  mkdirSync(upper);
  const staged = movedFolder(upper);
  const { ino } = lstatSync(join(upper, 'moved-folder'));
  const broken: StagedChange = { ...file('zz', 'promised\n'), source: { file: join(upper, 'missing') } };
  await assert.rejects(commit([...staged, broken]), { code: 'E_FILE_IO' });
  assert.deepEqual([readdirSync(workspace), lstatSync(join(upper, 'moved-folder')).ino], [[], ino]);
  await commit(movedFolder(upper));
  assert.deepEqual([lstatSync(path('moved-folder')).ino, existsSync(join(upper, 'moved-folder'))], [ino, false]);
  assert.deepEqual(sorted(readStates(workspace)), sorted(afterAll(new Map(), staged)));
});

test('a folder that is not what was looked at, or whose name was taken, is not moved', async (t) => {
  const { base, workspace, commit, path } = scene(t);
  const upper = join(base, 'upper');
  mkdirSync(upper);
  const staged = movedFolder(upper);
  writeFileSync(join(upper, 'moved-folder/slipped-in'), 'not staged\n');
  await commit(staged);
  assert.deepEqual(sorted(readStates(workspace)), sorted(afterAll(new Map(), staged)), 'file by file instead');
  const again = movedFolder(upper);
  await assert.rejects(commit(again), { code: 'E_FILE_IO' });
  assert.equal(existsSync(path('moved-folder/slipped-in')), false);
});
