/**
 * A workspace of two halves, `allowed` and `secret`, with links between them, and two runtimes on copies of it: one under
 * path rules, one without. What the second one does says what the call is about; the rules say what of it may happen.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import { createRuntime, type SessionOptions } from '../src/runtime.ts';
import type { Session } from '../src/session/session.ts';
import { createRepository } from './git-repository.ts';

/** Stands in every file below `secret`, in every line git prints about them, and nowhere else. */
export const SECRET = 'KEEP-OUT';

export interface Link {
  readonly at: string;
  readonly to: string;
}

export interface Half {
  readonly folder: string;
  readonly session: Session;
  /** The tree as at the start, with these links in it. */
  reset(links: readonly Link[]): void;
  call(tool: string, args: JsonObject): Promise<Done>;
  close(): Promise<void>;
}

export interface Done {
  readonly response: ToolResponse;
  /** Real paths that are different now, and what is staged. */
  readonly changed: readonly string[];
}

export interface Template {
  readonly folder: string;
  dispose(): void;
}

const FILES = {
  'allowed/a.txt': 'first\nopen and changed\n',
  'allowed/sub/b.txt': 'first\nopen and changed\n',
  'allowed/new.txt': 'first\nnew\n',
  'plain.txt': 'first\n',
  'secret/s.txt': `first\n${SECRET} changed\n`,
  'secret/sub/t.txt': `first\n${SECRET} changed\n`,
};

/** Every file has changes that are not committed, so that git has something to show and to restore. */
export function createTemplate(): Template {
  const repository = createRepository();
  repository.commit(
    { 'secret/s.txt': `first\n${SECRET}\n`, 'secret/sub/t.txt': `first\n${SECRET}\n` },
    `feat: ${SECRET}`,
  );
  repository.commit({ 'allowed/a.txt': 'first\nopen\n', 'allowed/sub/b.txt': 'first\nopen\n', 'plain.txt': 'first\n' });
  repository.write(FILES);
  return { folder: repository.folder, dispose: repository.dispose };
}

export async function openHalf(template: Template, registry: string, options: SessionOptions = {}): Promise<Half> {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'path-rules-')));
  const folder = join(scratch, 'workspace');
  cpSync(template.folder, folder, { recursive: true });
  const text = `version: 1\nisolation: none\nshell_allow: ['^touch made$']\n${registry}`;
  const runtime = await createRuntime({
    workspace: folder,
    state: join(scratch, 'state'),
    registry: { file: 'r.yaml', text },
  });
  const session = await runtime.openSession(options);
  return {
    folder,
    session,
    reset(links) {
      for (const name of readdirSync(folder)) if (name !== '.git') rmSync(join(folder, name), { recursive: true });
      for (const [name, text] of Object.entries(FILES)) putFile(join(folder, name), text);
      cpSync(join(template.folder, '.git/index'), join(folder, '.git/index'));
      for (const { at, to } of links) putLink(join(folder, at), to);
    },
    async call(tool, args) {
      const before = stateOf(folder);
      const index = readFileSync(join(folder, '.git/index'));
      const response = await session.call(tool, args);
      const staged = index.equals(readFileSync(join(folder, '.git/index'))) ? [] : stagedIn(folder);
      return { response, changed: [...differences(before, stateOf(folder)), ...staged] };
    },
    async close() {
      await runtime.close();
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

function putFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function putLink(path: string, to: string): void {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { recursive: true, force: true });
  symlinkSync(to, path);
}

function stagedIn(folder: string): readonly string[] {
  const words = ['diff', '--cached', '--name-only', '-z', '--no-renames'];
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', words, { cwd: folder, env, encoding: 'utf8' }).split('\0').filter(Boolean);
}

type State = ReadonlyMap<string, string>;

/** By real path, since links are not followed. Of git's folder only what is staged counts. */
function stateOf(root: string): State {
  const state = new Map<string, string>();
  const visit = (folder: string): void => {
    for (const name of readdirSync(join(root, folder))) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (path === '.git') continue;
      const stat = lstatSync(join(root, path));
      if (stat.isDirectory()) {
        state.set(path, 'folder');
        visit(path);
      } else if (stat.isSymbolicLink()) state.set(path, `link ${readlinkSync(join(root, path))}`);
      else state.set(path, `file ${readFileSync(join(root, path), 'latin1')}`);
    }
  };
  visit('');
  return state;
}

function differences(before: State, after: State): readonly string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
}

export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

/** Where a path leads now, as far as it exists; undefined when it leaves or never ends. */
export function realPathIn(root: string, path: string): string | undefined {
  const parts = path.split('/');
  for (let length = parts.length; length >= 0; length--) {
    try {
      const real = realpathSync(join(root, ...parts.slice(0, length).map((part) => (part === '' ? '.' : part))));
      const whole = normalize(join(real, ...parts.slice(length)));
      if (whole === root) return '.';
      return isInside(root, whole) ? whole.slice(root.length + 1) : undefined;
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR') return undefined;
      if (isDangling(join(root, ...parts.slice(0, length)))) return undefined;
    }
  }
  return undefined;
}

function isDangling(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    // Nothing there, or below a file.
    return false;
  }
}
