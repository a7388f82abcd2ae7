/** A tree with everything a commit can meet, and the changes that turn it into another one. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { PathState, StagedChange } from '../src/changes/change-set.ts';
import { textOfName } from '../src/changes/path-name.ts';
import { stampOf } from '../src/platform/commit/held-folders.ts';

const RAW = Buffer.from([0x6e, 0xff, 0x6d]);

export function plantScene(folder: string): void {
  writeFileSync(join(folder, 'edited'), 'old\n');
  writeFileSync(join(folder, 'removed'), 'gone\n', { mode: 0o600 });
  writeFileSync(join(folder, 'becomes-link'), 'text\n');
  writeFileSync(join(folder, 'becomes-folder'), 'text\n');
  mkdirSync(join(folder, 'becomes-file'));
  writeFileSync(join(folder, 'becomes-file', 'inner'), 'inner\n');
  mkdirSync(join(folder, 'gone', 'deep'), { recursive: true });
  writeFileSync(join(folder, 'gone', 'deep', 'one'), '1\n');
  writeFileSync(join(folder, 'gone', 'two'), '2\n');
  symlinkSync('edited', join(folder, 'link'));
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/`), RAW]), 'raw\n');
  mkdirSync(join(folder, 'kept'));
  writeFileSync(join(folder, 'replaced'), 'to be replaced\n');
  chmodSync(join(folder, 'replaced'), 0o600);
  symlinkSync('edited', join(folder, 'replaced-link'));
  for (const path of ['edited', 'becomes-link', 'becomes-folder', 'becomes-file/inner', 'gone/two']) {
    chmodSync(join(folder, path), 0o644);
  }
  for (const path of ['becomes-file', 'gone', 'gone/deep', 'kept']) chmodSync(join(folder, path), 0o755);
}

/** Against the planted tree. */
export function sceneChanges(folder: string): readonly StagedChange[] {
  const states = readStates(folder);
  const before = (path: string): PathState => states.get(path) ?? { kind: 'absent' };
  const file = (path: string, text: string, mode = 0o644): StagedChange => ({
    path,
    before: before(path),
    after: { kind: 'file', digest: digestOf(text), size: text.length, mode },
    source: { bytes: Buffer.from(text) },
  });
  const other = (path: string, after: PathState): StagedChange => ({ path, before: before(path), after });
  const absent: PathState = { kind: 'absent' };
  return [
    file('edited', 'new\n', 0o755),
    other('removed', absent),
    other('becomes-link', { kind: 'link', target: 'edited' }),
    other('becomes-folder', { kind: 'folder', mode: 0o755 }),
    file('becomes-folder/child', 'child\n'),
    file('becomes-file', 'now a file\n'),
    other('becomes-file/inner', absent),
    other('gone', absent),
    other('gone/deep', absent),
    other('gone/deep/one', absent),
    other('gone/two', absent),
    other('link', { kind: 'link', target: 'nowhere' }),
    file(textOfName(RAW), 'raw and new\n'),
    other('kept', { kind: 'folder', mode: 0o700 }),
    other('made', { kind: 'folder', mode: 0o750 }),
    other('made/deep', { kind: 'folder', mode: 0o555 }),
    file('made/deep/file', 'made\n', 0o600),
  ];
}

/**
 * Files that lie elsewhere, as a command leaves them, and are moved to their places: a new one, one in a new folder,
 * two that replace.
 */
export function movedChanges(folder: string, upper: string): readonly StagedChange[] {
  const states = readStates(folder);
  const moved = (path: string, text: string): StagedChange => {
    const file = join(upper, path.replaceAll('/', '-'));
    if (!existsSync(file)) writeFileSync(file, text, { mode: 0o644 });
    chmodSync(file, 0o644);
    return {
      path,
      before: states.get(path) ?? { kind: 'absent' },
      after: { kind: 'file', digest: digestOf(text), size: text.length, mode: 0o644 },
      source: { file, stamp: stampOf(lstatSync(file, { bigint: true })) },
    };
  };
  return [
    ...movedFolder(upper),
    moved('moved-new', 'moved\n'),
    moved('made/moved', 'moved into a new folder\n'),
    moved('replaced', 'moved over a file\n'),
    moved('replaced-link', 'moved over a link\n'),
  ];
}

/** A new folder that is moved with all that is in it. */
export function movedFolder(upper: string): readonly StagedChange[] {
  const top = join(upper, 'moved-folder');
  mkdirSync(join(top, 'deep'), { recursive: true });
  for (const folder of [top, join(top, 'deep')]) chmodSync(folder, 0o755);
  const absent: PathState = { kind: 'absent' };
  const contents = { 'moved-folder/one': 'one\n', 'moved-folder/deep/two': 'two\n' };
  for (const [path, text] of Object.entries(contents)) {
    writeFileSync(join(upper, path), text);
    chmodSync(join(upper, path), 0o644);
  }
  if (!existsSync(join(top, 'link'))) symlinkSync('one', join(top, 'link'));
  const source = (path: string) => ({
    file: join(upper, path),
    stamp: stampOf(lstatSync(join(upper, path), { bigint: true })),
  });
  const folder = (path: string): StagedChange => ({
    ...{ path, before: absent, after: { kind: 'folder', mode: 0o755 }, source: source(path) },
  });
  const files = Object.entries(contents).map(
    ([path, text]): StagedChange => ({
      ...{ path, before: absent, source: source(path) },
      after: { kind: 'file', digest: digestOf(text), size: text.length, mode: 0o644 },
    }),
  );
  const link: StagedChange = { path: 'moved-folder/link', before: absent, after: { kind: 'link', target: 'one' } };
  return [folder('moved-folder'), folder('moved-folder/deep'), ...files, link];
}

export function digestOf(text: string | Uint8Array): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Every path below the folder with its state, by its text form. */
export function readStates(folder: string): Map<string, PathState> {
  const states = new Map<string, PathState>();
  const visit = (at: Buffer, prefix: string): void => {
    for (const name of readdirSync(at, { encoding: 'buffer' })) {
      const path = Buffer.concat([at, Buffer.from('/'), name]);
      const key = `${prefix}${textOfName(name.toString('utf8') === `${name}` && !name.includes(0xff) ? name.toString() : name)}`;
      const stat = lstatSync(path);
      const mode = stat.mode & 0o777;
      if (stat.isSymbolicLink()) states.set(key, { kind: 'link', target: readlinkSync(path, 'utf8') });
      else if (stat.isDirectory()) {
        states.set(key, { kind: 'folder', mode });
        visit(path, `${key}/`);
      } else states.set(key, { kind: 'file', digest: digestOf(readFileSync(path)), size: stat.size, mode });
    }
  };
  visit(Buffer.from(folder), '');
  return states;
}

/** The tree after all of the changes. */
export function afterAll(
  before: ReadonlyMap<string, PathState>,
  changes: readonly StagedChange[],
): Map<string, PathState> {
  const after = new Map(before);
  for (const change of changes) {
    if (change.after.kind === 'absent') after.delete(change.path);
    else after.set(change.path, change.after);
  }
  return after;
}
