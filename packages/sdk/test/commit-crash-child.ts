/**
 * Commits the scene's changes and is killed right before the system call with the given number; prints how many there were
 * when it survives. Started by commit-crash.deep.test.ts.
 */
import fs, { mkdirSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { commitChanges } from '../src/platform/commit/commit-changes.ts';
import { createRedoLog } from '../src/platform/commit/redo-log.ts';
import { createDisk } from '../src/platform/descriptors/disk.ts';
import { createPlaces } from '../src/platform/descriptors/places.ts';
import { openRoot, type RootBackend } from '../src/platform/descriptors/root.ts';
import { createWorkspace } from '../src/platform/files/workspace.ts';
import { createGoverningFiles } from '../src/platform/protection/governing-files.ts';
import { createUnfinishedFolders } from '../src/platform/state/unfinished-folders.ts';
import { movedChanges, sceneChanges } from './commit-crash-scene.ts';

const [workspace = '', state = '', backend = '', killAt = '', what = ''] = process.argv.slice(2);
const COUNTED = ['openSync', 'writeSync', 'renameSync', 'linkSync', 'unlinkSync', 'mkdirSync', 'rmdirSync', 'rmSync'];
const MORE = ['symlinkSync', 'chmodSync', 'fchmodSync', 'closeSync', 'appendFileSync'];

const upper = join(state, 'upper');
mkdirSync(upper, { mode: 0o700 });
const changes = [...sceneChanges(workspace), ...movedChanges(workspace, upper)];
const unfinished = createUnfinishedFolders();
unfinished.keepIn(state);
const root = openRoot(workspace, { backend: backend as RootBackend, noteFolder: unfinished.note });
const disk = createDisk();
const redo = createRedoLog(state, disk);

let calls = 0;
function counted<A extends unknown[], R>(call: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    if (calls++ === Number(killAt)) process.kill(process.pid, 'SIGKILL');
    return call(...args);
  };
}

const patched = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
for (const name of [...COUNTED, ...MORE]) {
  const original = patched[name];
  if (original !== undefined) patched[name] = counted(original);
}
syncBuiltinESMExports();

const watched = { ...root, rename: counted(root.rename) };
if (what === 'move') {
  await createWorkspace(watched, { unfinished }).move('gone', 'kept/moved', { overwrite: false });
} else {
  const places = createPlaces(watched, { readOnly: false, extraRoots: [], disk });
  await commitChanges({ find: (path) => places.find(path), guard: createGoverningFiles() }, changes, { disk, redo });
}
unfinished.close();
process.stdout.write(String(calls));
process.exit(fs.existsSync(join(state, 'never')) ? 1 : 0);
