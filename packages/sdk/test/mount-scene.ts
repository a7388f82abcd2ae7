/** A sandbox with one mount of every kind, on a tree an attacker may change; and the programs to look at it from inside. */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isToolError } from '@tool-runtime/protocol';
import type { Isolation, Sandbox, SandboxRequest } from '../src/contracts/commands.ts';
import { holdPath } from '../src/platform/descriptors/held-path.ts';
import { identityOf, openRoot } from '../src/platform/descriptors/root.ts';
import type { Spawner } from '../src/platform/processes/spawned-process.ts';
import { createBubblewrap } from '../src/platform/sandbox/isolation-bubblewrap.ts';
import { startSandboxed } from '../src/platform/sandbox/sandboxed-process.ts';
import { verifyEarlyMounts, verifyMounts } from '../src/platform/sandbox/verify-mounts.ts';

export const SECRET = 'SECRET';

/** What lies below the open tree, each with a twin outside that holds a secret. `*` is the folder of what is protected. */
const TREE = [
  'ws/own.txt',
  'ws/.git/config.txt',
  'ws/*/deep/registry.yaml',
  'ws/*/token.txt',
  'ws/run/secrets/key.txt',
  'lent/read/tool.txt',
  'lent/write/result.txt',
  'lent/judged/repo.txt',
  'shown/tools/tool.txt',
];

export interface SceneNames {
  /** Of the open tree. */
  readonly open: string;
  /** Of the folder with protected files in the workspace. */
  readonly protecting: string;
}

export interface Scene {
  readonly base: string;
  /** What an attacker may change. */
  readonly open: string;
  readonly outside: string;
  readonly files: readonly string[];
  /** How many names there are outside. */
  readonly entries: number;
  readonly isolation: Isolation;
  readonly request: SandboxRequest;
  readonly spawner: Spawner;
}

/** `base` belongs to the user who runs this. */
export async function openMountScene(
  given: string,
  spawner: Spawner,
  names: SceneNames = { open: 'open', protecting: 'conf' },
): Promise<Scene> {
  mkdirSync(given);
  const base = realpathSync.native(given);
  const files = TREE.map((path) => path.replace('*', names.protecting));
  const [open, outside, folder] = [join(base, names.open), join(base, 'outside'), join(base, 'wall')];
  for (const [root, content] of [
    [open, 'INSIDE'],
    [outside, SECRET],
  ] as const) {
    for (const path of files) {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), `${content} ${path}\n`);
    }
  }
  mkdirSync(folder, { mode: 0o700 });
  const isolation = createBubblewrap({ spawner, folder, readPaths: [join(open, 'shown/tools')] });
  const problem = await isolation.check();
  if (problem !== undefined) throw new TypeError(problem.problem);
  const request: SandboxRequest = {
    workspace: openRoot(join(open, 'ws')),
    writable: true,
    proxySocket: null,
    protectedPaths: [
      { path: join(open, 'ws/.git'), access: 'read_only' },
      { path: join(open, 'ws', names.protecting, 'deep/registry.yaml'), access: 'read_only' },
      { path: join(open, 'ws', names.protecting, 'token.txt'), access: 'hide' },
      { path: join(open, 'ws/run/secrets'), access: 'hide' },
    ],
    folders: [
      { path: join(open, 'lent/read'), writable: false },
      { path: join(open, 'lent/write'), writable: true },
      { path: join(open, 'lent/judged'), writable: false, identity: identityAt(join(open, 'lent/judged')) },
    ],
  };
  const entries = readdirSync(outside, { recursive: true }).length;
  return { base, open, outside, files, entries, isolation, request, spawner };
}

function identityAt(path: string): string {
  return identityOf(holdPath(path).stat);
}

/**
 * Whether no program changed what it may not, and nothing outside was touched. Where names change between two steps of
 * bubblewrap it may itself empty a file it is about to cover; an attacker who can do that could have emptied it, too.
 */
export function isIntact({ open, outside, files, entries }: Scene): boolean {
  const holds = (root: string, path: string, contents: readonly string[]): boolean =>
    existsSync(join(root, path)) && contents.includes(readFileSync(join(root, path), 'utf8'));
  return (
    readdirSync(outside, { recursive: true }).length === entries &&
    files.every((path) => holds(outside, path, [`${SECRET} ${path}\n`])) &&
    files.every((path) => holds(open, path, [`INSIDE ${path}\n`, '']))
  );
}

/** Prints every file it can see below the given folders, and tries to change what it must not. */
const LOOK = `
for folder in "$@"; do find "$folder" -type f -exec cat {} + 2>/dev/null; done
cd "$1/ws" || exit 0
for file in .git/config.txt */deep/registry.yaml */token.txt run/secrets/key.txt; do
  echo CHANGED 2>/dev/null >> "$file"
  rm -f "$file" 2>/dev/null
done
mv conf moved 2>/dev/null; mv run moved 2>/dev/null
echo RAN
`;

/** What it saw, or `refused: reason` when it did not start. */
export async function lookInside(
  { isolation, request, spawner, open, outside }: Scene,
  change?: (wall: Sandbox) => Sandbox,
) {
  let wall: Sandbox | undefined;
  try {
    const entered = isolation.enter(request);
    wall = change?.(entered) ?? entered;
    const args = ['-c', LOOK, 'sh', open, outside, '/run'];
    const confined = wall.confine({ program: '/bin/sh', args, env: { PATH: '/usr/bin:/bin' }, cwd: '.' });
    const ends = { stdin: 'null', stdout: 'pipe', stderr: 'pipe' } as const;
    const { process, ended } = await startSandboxed({ spawner, sandbox: wall }, { name: 'sh', confined }, ends);
    const [stdout = '', , end] = await Promise.all([
      ...[process.stdout, process.stderr].map((stream) => (stream === undefined ? '' : text(stream))),
      ended,
    ]);
    return typeof end === 'object' && end.notStarted !== undefined ? 'refused: not_started' : String(stdout);
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return `refused: ${thrown.details?.['reason']}`;
  } finally {
    wall?.leave();
  }
}

/** The sandbox without the check of its mounts. */
export function unverified(wall: Sandbox): Sandbox {
  return { ...wall, verify: (init) => verifyMounts(init, []), verifyEarly: (init) => verifyEarlyMounts(init, []) };
}
