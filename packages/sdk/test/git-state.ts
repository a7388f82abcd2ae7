/** Everything about a repository that a recovery must bring back, as one comparable value: bytes, modes, links, index, HEAD. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { TestRepository } from './git-repository.ts';

export interface RepositoryState {
  readonly files: Readonly<Record<string, string>>;
  readonly index: string;
  readonly head: string;
  readonly branches: string;
  /** What git keeps while an operation is under way. */
  readonly operation: Readonly<Record<string, string>>;
}

const STATE =
  /^(?:MERGE_\w+|SQUASH_MSG|CHERRY_PICK_HEAD|REVERT_HEAD|REBASE_HEAD|AUTO_MERGE|ORIG_HEAD|rebase-\w+|sequencer)$/;

export function stateOf(repository: TestRepository): RepositoryState {
  const gitDir = repository.git('rev-parse', '--absolute-git-dir').trim();
  const operation: Record<string, string> = {};
  for (const name of readdirSync(gitDir).filter((one) => STATE.test(one))) {
    readBelow(Buffer.from(join(gitDir, name)), name, operation);
  }
  return {
    files: filesOf(repository.folder),
    index: digestOf(join(gitDir, 'index')),
    head: readFileSync(join(gitDir, 'HEAD'), 'utf8'),
    branches: repository.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/heads/'),
    operation,
  };
}

/** Name → type, permissions and content; names that are no text as escapes. */
export function filesOf(folder: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { encoding: 'buffer' })) {
    if (name.toString('latin1') === '.git') continue;
    readBelow(Buffer.concat([Buffer.from(`${folder}/`), name]), name.toString('latin1'), found);
  }
  return found;
}

function readBelow(path: Buffer, name: string, found: Record<string, string>): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) found[name] = `-> ${readlinkSync(path)}`;
  else if (stat.isDirectory()) {
    for (const below of readdirSync(path, { encoding: 'buffer' })) {
      readBelow(Buffer.concat([path, Buffer.from('/'), below]), `${name}/${below.toString('latin1')}`, found);
    }
  } else found[name] = `${(stat.mode & 0o777).toString(8)} ${shortened(readFileSync(path))}`;
}

/** Readable while it is short. */
function shortened(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  return text.length <= 200 ? text : `${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`;
}

function digestOf(path: string): string {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return 'none';
  }
}
