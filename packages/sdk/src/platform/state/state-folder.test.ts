import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { defaultStateFolder, openStateFolder } from './state-folder.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'state-folder-')));
after(() => rmSync(root, { recursive: true, force: true }));
const workspace = join(root, 'workspace');
mkdirSync(join(workspace, 'inner'), { recursive: true });
const newPath = () => join(mkdtempSync(join(root, 'place-')), 'state');
const refuses = (work: () => unknown, reason: RegExp) =>
  assert.throws(work, (thrown) => isToolError(thrown) && reason.test(thrown.message) && !thrown.message.includes(root));
const mode = (path: string) => statSync(path).mode & 0o777;

describe('where it lies', () => {
  test('prefers the variable of its own, then XDG, then home; one name per workspace', () => {
    const name = /^[0-9a-f]{16}$/;
    const at = (environment: Record<string, string>) => defaultStateFolder(workspace, environment);
    const own = at({ TOOL_RUNTIME_STATE: '/s', XDG_STATE_HOME: '/x', HOME: '/h' });
    const folder = own.slice('/s/'.length);
    assert.match(folder, name);
    assert.equal(at({ XDG_STATE_HOME: '/x', HOME: '/h' }), `/x/tool-runtime/${folder}`);
    assert.equal(at({ XDG_STATE_HOME: 'relative', HOME: '/h' }), `/h/.local/state/tool-runtime/${folder}`);
    assert.equal(at({ TOOL_RUNTIME_STATE: '', HOME: '/h' }), `/h/.local/state/tool-runtime/${folder}`);
    assert.notEqual(defaultStateFolder(root, { HOME: '/h' }), at({ HOME: '/h' }));
  });

  test('two spellings of a workspace share one folder; a missing workspace has none', () => {
    symlinkSync(workspace, join(root, 'alias'));
    assert.equal(
      defaultStateFolder(join(root, 'alias'), { HOME: '/h' }),
      defaultStateFolder(workspace, { HOME: '/h' }),
    );
    refuses(() => defaultStateFolder(join(root, 'nowhere'), {}), /ENOENT/);
  });

  test('is refused inside the workspace, by any road, before anything is created', () => {
    const alias = join(root, 'inner-alias');
    symlinkSync(join(workspace, 'inner'), alias);
    for (const path of [
      workspace,
      join(workspace, 'state'),
      join(workspace, 'inner', 'a', 'b'),
      join(alias, 'state'),
    ]) {
      refuses(() => openStateFolder(path, { workspace }), /inside the workspace/);
    }
    refuses(() => openStateFolder(join(workspace, 'x'), { workspace: join(root, 'alias') }), /inside the workspace/);
    assert.equal(existsSync(join(workspace, 'state')) || existsSync(join(workspace, 'inner', 'a')), false);
    openStateFolder(join(root, 'workspace-state'), { workspace });
  });
});

describe('who may enter', () => {
  test('is created closed to others, with the folders on the way', () => {
    const path = newPath();
    assert.equal(openStateFolder(join(path, 'deeper')).path, join(path, 'deeper'));
    assert.deepEqual([mode(path), mode(join(path, 'deeper'))], [0o700, 0o700]);
  });

  test('an empty folder with the usual mode is closed; one with something in it is refused', () => {
    const path = newPath();
    mkdirSync(path, { mode: 0o755 });
    openStateFolder(path);
    assert.equal(mode(path), 0o700);
    chmodSync(path, 0o750);
    writeFileSync(join(path, 'planted'), '');
    refuses(() => openStateFolder(path), /others may enter/);
  });

  test('a link and a file in its place are refused', () => {
    const [link, file] = [newPath(), newPath()];
    mkdirSync(join(root, 'target'), { mode: 0o700 });
    symlinkSync(join(root, 'target'), link);
    refuses(() => openStateFolder(link), /symbolic link/);
    writeFileSync(file, '');
    refuses(() => openStateFolder(file), /EEXIST|ENOTDIR/);
  });

  test('a folder of another user is refused', () => {
    const given = newPath();
    mkdirSync(given, { mode: 0o700 });
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) chownSync(given, 65534, 65534);
    refuses(() => openStateFolder(isRoot ? given : '/etc'), /another user/);
  });
});

describe('its files', () => {
  test('the key is 32 random bytes, made once, closed to others', () => {
    const state = openStateFolder(newPath());
    const key = state.key();
    assert.equal(key.length, 32);
    assert.deepEqual(openStateFolder(state.path).key(), key);
    assert.notDeepEqual(openStateFolder(newPath()).key(), key);
    assert.equal(mode(join(state.path, 'journal.key')), 0o600);
  });

  test('a key that was cut, opened up, linked or lost beside its journal is refused', () => {
    const spoiled = (spoil: (key: string, folder: string) => void) => {
      const state = openStateFolder(newPath());
      state.key();
      state.file('journal.db');
      spoil(join(state.path, 'journal.key'), state.path);
      return () => state.key();
    };
    refuses(
      spoiled((key) => writeFileSync(key, 'short')),
      /wrong length/,
    );
    refuses(
      spoiled((key) => chmodSync(key, 0o644)),
      /open to others/,
    );
    refuses(
      spoiled((key) => rmSync(key)),
      /journal\.key is missing/,
    );
    refuses(
      spoiled((key, folder) => {
        linkSync(key, join(folder, 'copy'));
        rmSync(key);
        symlinkSync(join(folder, 'copy'), key);
      }),
      /symbolic link/,
    );
    spoiled(() => undefined)();
  });

  test('a database is refused while a companion file of it is a link, and opens beside plain ones', () => {
    for (const suffix of ['-wal', '-shm']) {
      const state = openStateFolder(newPath());
      symlinkSync(join(root, 'elsewhere'), join(state.path, `journal.db${suffix}`));
      refuses(() => state.file('journal.db'), /symbolic link/);
      rmSync(join(state.path, `journal.db${suffix}`));
      writeFileSync(join(state.path, `journal.db${suffix}`), '', { mode: 0o600 });
      assert.equal(state.file('journal.db'), join(state.path, 'journal.db'));
    }
  });

  test('text is written whole, closed to others, and read back', () => {
    const state = openStateFolder(newPath());
    assert.equal(state.readText('list.json'), undefined);
    state.writeText('list.json', 'one');
    state.writeText('list.json', 'zwei ä');
    assert.equal(state.readText('list.json'), 'zwei ä');
    assert.equal(mode(join(state.path, 'list.json')), 0o600);
    symlinkSync('/etc/passwd', join(state.path, 'link'));
    refuses(() => state.readText('link'), /symbolic link/);
    mkdirSync(join(state.path, 'folder'));
    refuses(() => state.readText('folder'), /not a regular file/);
  });
});
