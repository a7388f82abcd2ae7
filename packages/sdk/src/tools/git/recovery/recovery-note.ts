/**
 * What a recovery point says about itself, as JSON in the message of its commit.
 *
 * It is not trusted when read back: anyone who can write to the repository can write such a commit.
 */
import { randomBytes } from 'node:crypto';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import { z } from 'zod';
import { GIT_VERBS } from '../../../contracts/git.ts';
import { gitFailure } from '../../../git/git-failure.ts';

const hash = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
const branch = z.string().regex(/^refs\/heads\/(?!-)[^\x00-\x20\x7f~^:?*[\\]+$/);

/** What a point can be made before: verbs of git, and tools that take files away. */
export const SAVED_VERBS = [...GIT_VERBS, 'delete', 'move'] as const;
export type SavedVerb = (typeof SAVED_VERBS)[number];

const note = z.strictObject({
  version: z.literal(1),
  verb: z.enum(SAVED_VERBS),
  /**
   * `files`: only files were saved, going back leaves HEAD, branches and the index alone. `commit`: only HEAD and the index
   * were saved, going back leaves files alone that were changed since. Left out: all was saved and comes back.
   */
  scope: z.enum(['files', 'commit']).exactOptional(),
  time: z.iso.datetime(),
  /** Null before the first commit. */
  head: hash.nullable(),
  /** Null when HEAD was detached. */
  branch: branch.nullable(),
  /** What the verb was about to go to. */
  target: hash.nullable(),
  /** Further branches the verb could move. */
  refs: z.record(branch, hash),
  /** Which work tree it is about; null for the main one. */
  worktree: z.string().nullable(),
  files: z.int(),
  deleted: z.int(),
  /** The first of the names. */
  paths: z.array(z.string()),
  skipped: z.array(z.strictObject({ path: z.string(), size: z.number(), reason: z.string() })),
  stashes: z.array(z.strictObject({ hash, message: z.string() })),
});

export type RecoveryNote = z.output<typeof note>;

/** So that a list of a hundred points stays small. */
export const NOTED_PATHS = 200;

export function writeNote(told: RecoveryNote): string {
  return `Recovery point before ${told.verb}\n\n${JSON.stringify(told, null, 1)}\n`;
}

/** Throws E_GIT for a commit that is no recovery point. */
export function readNote(message: string): RecoveryNote {
  const start = message.indexOf('{');
  const parsed = start < 0 ? undefined : note.safeParse(jsonOf(message.slice(start)));
  if (parsed?.success === true) return parsed.data;
  throw gitFailure('Reference is not a recovery point', {
    path: 'recovery',
    reason: 'bad_recovery',
    next: 'list the recovery points with git_recover and list: true',
  });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A commit of another program: the schema refuses it.
    return undefined;
  }
}

export const RECOVERY_FOLDER = 'refs/tool-runtime/recovery';
export const RECOVERY_REF = /^refs\/tool-runtime\/recovery\/\d{8}T\d{9}Z-[0-9a-f]{12}$/;

/** Names of recovery points: the time first, so that their order is the order of making. */
export function newRecoveryRef(time: string): string {
  return `${RECOVERY_FOLDER}/${time.replace(/[-:.]/g, '')}-${randomBytes(6).toString('hex')}`;
}

/** Throws E_GIT unless the text is such a name. */
export function checkRecoveryRef(text: string): string {
  if (RECOVERY_REF.test(text)) return text;
  throw gitFailure('Not the name of a recovery point', {
    path: 'recovery',
    reason: 'bad_recovery',
    next: 'give the value of `recovery` from the answer of a git tool; git_recover with list: true shows them all',
  });
}

/** Whatever goes wrong after something was saved, the error says where to go back to. */
export async function namingRecovery<T>({ ref }: { readonly ref: string }, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (thrown) {
    if (!isToolError(thrown) || thrown.details['recovery'] !== undefined) throw thrown;
    throw new ToolError(thrown.code, thrown.message, {
      ...(thrown.path === undefined ? {} : { path: thrown.path }),
      details: { ...thrown.details, recovery: ref },
      cause: thrown,
    });
  }
}
