/** A workspace with one governing file or folder somewhere, ordinary files beside it, and a runtime on it. */
import { createHash } from 'node:crypto';
import {
  linkSync,
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
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import type { GoverningPlace } from '../src/contracts/governing.ts';
import { createRuntime, type Runtime } from '../src/runtime.ts';
import type { Session } from '../src/session/session.ts';
import { openRepository, type TestRepository } from './git-repository.ts';

export const KINDS = ['registry', 'lock', 'token', 'socket', 'state', 'git', 'linked_git'] as const;
export type Kind = (typeof KINDS)[number];
/** `child`: in a folder of the workspace that is the root of a child session. */
export const PLACES = ['root', 'folder', 'extra', 'child', 'outside'] as const;
export type Place = (typeof PLACES)[number];

/** Must appear in no answer and in no ordinary file. */
export const CANARY = 'tok_4f9dCANARY';
const TEXT = [
  'version: 1',
  'side_effect_level: process_exec',
  "shell_allow: ['^python3 attack[.]py$', '^touch made$']",
  'git: {allow_config: []}',
  '',
].join('\n');

const NAMES: Readonly<Record<Kind, string>> = {
  registry: 'own.yaml',
  lock: 'tool-runtime.lock',
  token: 'host.tokens',
  socket: 'host.sock',
  state: 'state',
  git: '.git',
  linked_git: 'store',
};
const FOLDERS: ReadonlySet<Kind> = new Set(['state', 'git', 'linked_git']);
const SECRETS: ReadonlySet<Kind> = new Set(['token', 'socket', 'state']);

export interface GoverningScene {
  readonly kind: Kind;
  readonly place: Place;
  readonly base: string;
  readonly workspace: string;
  readonly repository: TestRepository;
  readonly runtime: Runtime;
  /** On the whole workspace, or a child's. */
  readonly session: Session;
  /** Absolute path of the governing file or folder. */
  readonly path: string;
  /** What the session's paths are relative to, and what they begin with. */
  readonly root: string;
  readonly prefix: string;
  readonly isFolder: boolean;
  readonly isSecret: boolean;
  /** False for a repository inside the workspace's: commands may work with it, as package managers do. */
  readonly keepsCommandsOut: boolean;
  /** Puts the ordinary files back as they were at the start. */
  reset(): void;
  /** Everything about the governing object that must not change. */
  fingerprint(): string;
  dispose(): Promise<void>;
}

/** Undefined for a kind that cannot be at such a place. */
export async function openScene(kind: Kind, place: Place): Promise<GoverningScene | undefined> {
  if (kind === 'state' && place !== 'extra' && place !== 'outside') return undefined;
  if (kind === 'git' && place === 'extra') return undefined;
  if ((kind === 'git' || kind === 'linked_git') && place === 'outside') return undefined;
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'governing-')));
  const [workspace, extra, outside] = ['work', 'extra', 'outside'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [workspace, extra, outside]) mkdirSync(folder, { mode: 0o700 });
  const folder = {
    root: workspace,
    folder: join(workspace, 'ops/deep'),
    extra: join(extra, 'ops'),
    child: join(workspace, kind === 'git' ? 'sub' : 'sub/ops'),
    outside,
  }[place];
  mkdirSync(folder, { recursive: true });
  const path = join(folder, NAMES[kind]);
  const repository = openRepository(workspace, base);
  repository.git('init', '--quiet', '--initial-branch=main');
  repository.git('config', 'user.name', 'Ada Tester');
  repository.git('config', 'user.email', 'ada@example.org');
  const server = await plant(kind, path, repository);
  const root = place === 'extra' ? extra : place === 'child' ? join(workspace, 'sub') : workspace;
  const plantOrdinary = (): void => ordinary(root, path, { kind, place });
  plantOrdinary();
  const open = { ...optionsFor(kind, path), extraRoots: [{ name: 'extra', path: extra, access: 'write' as const }] };
  const runtime = await createRuntime({ workspace, state: join(base, 'home', 'state'), ...open });
  const parent = await runtime.openSession();
  const session =
    place === 'child'
      ? await parent.openChild({ agentId: 'c', folder: 'sub', tools: { type: 'inherit_allowlist' } })
      : parent;
  return {
    kind,
    place,
    base,
    workspace,
    repository,
    runtime,
    session,
    path,
    root,
    prefix: place === 'extra' ? '@extra/' : '',
    isFolder: FOLDERS.has(kind),
    isSecret: SECRETS.has(kind),
    keepsCommandsOut: kind !== 'git' || place !== 'folder',
    reset: plantOrdinary,
    fingerprint: () => fingerprint(path, kind),
    async dispose() {
      await runtime.close();
      server?.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function optionsFor(kind: Kind, path: string) {
  const text = { file: 'ops.yaml', text: TEXT };
  if (kind === 'registry') return { registry: path };
  // The lock of external tools lies beside the registry.
  if (kind === 'lock') return { registry: join(dirname(path), 'ops.yaml') };
  if (kind === 'state') return { registry: text, state: path };
  const added: readonly GoverningPlace[] = kind === 'token' || kind === 'socket' ? [{ path, access: 'none' }] : [];
  return { registry: text, governing: added };
}

async function plant(kind: Kind, path: string, repository: TestRepository): Promise<Server | undefined> {
  if (kind === 'registry') writeFileSync(path, TEXT);
  if (kind === 'lock') writeFileSync(join(dirname(path), 'ops.yaml'), TEXT);
  if (kind === 'lock') writeFileSync(path, '{"schema_version":1,"tools":{}}\n');
  if (kind === 'token') writeFileSync(path, `version: 1\n${CANARY}\n`, { mode: 0o600 });
  if (kind === 'git' && dirname(path) !== repository.folder) {
    mkdirSync(join(path, 'hooks'), { recursive: true });
    writeFileSync(join(path, 'config'), '[core]\n');
  }
  // A repository whose data lies beside it, under an ordinary name.
  if (kind === 'linked_git') repository.git('init', '--quiet', `--separate-git-dir=${path}`);
  if (kind !== 'socket') return undefined;
  const server = createServer((socket) => socket.end(CANARY));
  // Through the folder: an address has room for some hundred bytes only.
  await new Promise<void>((done) => server.listen(path, done));
  return server;
}

/** An ordinary twin beside the governing object, links and a second name that lead to both. */
function ordinary(root: string, path: string, { kind, place }: { kind: Kind; place: Place }): void {
  const folder = place === 'outside' ? root : dirname(path);
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(root)) {
    if (/^(to-|alias|plain|fresh|copy|stolen|made)/.test(name))
      rmSync(join(root, name), { recursive: true, force: true });
  }
  for (const twin of [join(folder, 'twin.txt'), join(folder, 'twin-folder')])
    rmSync(twin, { recursive: true, force: true });
  writeFileSync(join(folder, 'twin.txt'), 'version: 1\nordinary\n');
  mkdirSync(join(folder, 'twin-folder/inner'), { recursive: true });
  writeFileSync(join(folder, 'twin-folder/inner/file.txt'), 'version: 1\n');
  writeFileSync(join(root, 'plain.txt'), 'version: 1\nplain\n');
  mkdirSync(join(root, 'plain-folder'), { recursive: true });
  writeFileSync(join(root, 'plain-folder/file.txt'), 'plain\n');
  symlinkSync(relative(root, folder) || '.', join(root, 'to-folder'));
  symlinkSync(relative(root, join(folder, 'twin.txt')), join(root, 'to-twin.txt'));
  if (place !== 'outside') symlinkSync(relative(root, path), join(root, `to-${basename(path)}`));
  linkSync(join(folder, 'twin.txt'), join(root, 'alias-twin.txt'));
  if (!FOLDERS.has(kind) && kind !== 'socket') linkSync(path, join(root, 'alias-governing'));
}

/** Second names go: the sandbox refuses to start while a governing file has one. */
export function dropSecondName({ root }: GoverningScene): void {
  rmSync(join(root, 'alias-governing'), { force: true });
}

function fingerprint(path: string, kind: Kind): string {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined) return 'gone';
  const identity = `${stat.dev}:${stat.ino}`;
  if (kind === 'state' || kind === 'git' || kind === 'linked_git') return `${identity} ${folderDigest(path, kind)}`;
  return kind === 'socket' ? identity : `${identity} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`;
}

/** Of a folder its configuration, hooks and names that only an attacker makes; the runtime itself writes the rest. */
function folderDigest(path: string, kind: Kind): string {
  if (kind === 'state')
    return readdirSync(path)
      .filter((name) => /made|fresh|plain|twin/.test(name))
      .join(' ');
  const names = readdirSync(path).filter((name) => /^(config|hooks|HEAD)$|made|fresh|plain|twin/.test(name));
  const hooks = names.includes('hooks') ? readdirSync(join(path, 'hooks')) : [];
  return [...names, ...hooks, readFileSync(join(path, 'config'), 'utf8')].join('\n');
}

/** Ordinary files and links of the scene in which the canary appears. */
export function leaks({ root, path }: GoverningScene): readonly string[] {
  const found: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const inner = join(folder, entry.name);
      if (inner === path || entry.name === '.git' || entry.name === 'alias-governing') continue;
      if (entry.isDirectory()) visit(inner);
      else if (entry.isSymbolicLink()) readlinkSync(inner);
      else if (entry.isFile() && readFileSync(inner).includes(CANARY)) found.push(relative(root, inner));
    }
  };
  visit(root);
  return found;
}
