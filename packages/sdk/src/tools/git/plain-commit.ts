/**
 * An ordinary commit without `git commit`, which looks at every file of the work tree and writes the index anew: the object is
 * written here, and `git update-ref` moves HEAD if it still is where it was seen.
 *
 * Left to git is whatever it would do more than that, or would write in another way than this.
 */
import type { ToolError } from '@tool-runtime/protocol';
import type { ChangedFile, GitConfig, GitFiles, GitRepository } from '../../contracts/git.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import { diffTrees } from '../../git/diff-trees.ts';
import { gitFailure } from '../../git/git-failure.ts';
import { headCommit } from '../../git/head-commit.ts';
import { isListed } from '../../git/judge-config.ts';
import { emptyTree } from '../../git/resolve-revisions.ts';
import { hasPlainStore, writeObject } from '../../git/write-objects.ts';

export interface NewCommit {
  readonly tree: string;
  readonly message: string;
  /** Names of author and committer, as variables of git. */
  readonly env: Readonly<Record<string, string>>;
}

interface MadeCommit {
  readonly hash: string;
  readonly tree: string;
  readonly parent: string | null;
}

/** Undefined where git has to make it; HEAD is where it was then. */
export async function makePlainCommit(
  { tree, message, env }: NewCommit,
  { git, registry }: Pick<ToolContext, 'git' | 'registry'>,
): Promise<MadeCommit | undefined> {
  const [head, config] = await Promise.all([headCommit(git), git.config()]);
  const who = signatureOf(env, new Date());
  const isPlain = who !== undefined && !message.includes('\0') && formsPlainly(config, registry);
  const base = head?.tree ?? emptyTree(config);
  if (!isPlain || tree === base || !(await isComplete(git.files, base, tree))) return undefined;
  const text = tidy(message);
  const parents = head === undefined ? [] : [`parent ${head.hash}`];
  const lines = [`tree ${tree}`, ...parents, `author ${who}`, `committer ${who}`, '', text];
  const hash = await writeObject(git.files, { type: 'commit', bytes: Buffer.from(lines.join('\n')) }, tree.length / 2);
  const isMoved = await moveHead(git, { from: head?.hash, to: hash, subject: text.slice(0, text.indexOf('\n')), env });
  return isMoved ? { hash, tree, parent: head?.hash ?? null } : undefined;
}

interface Move {
  readonly from: string | undefined;
  readonly to: string;
  readonly subject: string;
  readonly env: NewCommit['env'];
}

/** Longer ones are cut in the log of HEAD: they are a word on a command line. */
const LOGGED_SUBJECT = 1000;

/** False when git does not want to, and `git commit` should say why. Throws E_GIT when HEAD is no longer where it was. */
async function moveHead(git: GitRepository, { from, to, subject, env }: Move): Promise<boolean> {
  const reason = `commit${from === undefined ? ' (initial)' : ''}: ${subject.slice(0, LOGGED_SUBJECT)}`;
  const { code } = await git.run({
    words: ['update-ref', '-m', reason, 'HEAD', to, from ?? '0'.repeat(to.length)],
    access: 'write',
    finishes: true,
    env,
    accept: [0, 1, 128],
  });
  const isMoved = code === 0;
  const now = isMoved ? undefined : await headCommit(git);
  if (!isMoved && now?.hash !== from) throw headMoved(now?.tree);
  return isMoved;
}

/** Another program committed in between: what is there now is not what was checked. */
export function headMoved(tree: string | undefined): ToolError {
  return gitFailure('HEAD moved while the commit was made', {
    reason: 'head_moved',
    next: 'check git_log: another program commits in this repository at the same time',
    details: { tree: tree ?? null },
  });
}

/** Whether no setting changes the text of a commit, and no hook runs after it, which may want the files `git commit` leaves. */
function formsPlainly(config: GitConfig, { git }: ToolContext['registry']): boolean {
  const isOpen = ['core.hookspath', 'i18n.commitencoding'].some((key) => isListed(key, git.allow_config));
  return hasPlainStore(config) && config.get('commit.cleanup') === undefined && !isOpen && git.hooks === 'off';
}

/** More are looked for faster by git. */
const MAX_CHANGES = 200;

/** Whether all that is new in the tree is there: git refuses to commit what it could not check out. */
async function isComplete(files: GitFiles, base: string, tree: string): Promise<boolean> {
  const changes = await diffTrees(files, base, tree);
  if (changes === undefined || changes.length > MAX_CHANGES) return false;
  return (await Promise.all(changes.map((change) => isThere(files, change)))).every(Boolean);
}

async function isThere(files: GitFiles, { blob }: ChangedFile): Promise<boolean> {
  if (blob === undefined) return true;
  const folder = `objects/${blob.slice(0, 2)}`;
  return (await files.list(folder)).includes(`${folder}/${blob.slice(2)}`);
}

/** At its ends git takes these away from a name, not all versions the same. */
const ODD = /^[\x00-\x20.,:;<>"\\']|[\x00-\x20.,:;<>"\\']$|[\n<>]|^$/;

/** Who and when, as git writes it. Undefined where the name or the time zone is one that git has to look at. */
function signatureOf(env: NewCommit['env'], time: Date): string | undefined {
  const { GIT_AUTHOR_NAME: name = '', GIT_AUTHOR_EMAIL: email = '' } = env;
  if (ODD.test(name) || ODD.test(email) || (process.env['TZ'] ?? 'UTC') !== 'UTC') return undefined;
  return `${name} <${email}> ${Math.floor(time.getTime() / 1000)} +0000`;
}

/** As git does it: no blanks at the ends of lines, no two empty lines together, none at the ends of the text. */
function tidy(message: string): string {
  const lines = message.split('\n').map(withoutBlanksBehind);
  const kept = lines.filter((line, at) => line !== '' || (lines[at - 1] ?? '') !== '');
  return `${kept.join('\n').replace(/\n$/, '')}\n`;
}

/** By hand, because a pattern would take the square of the number of blanks. */
function withoutBlanksBehind(line: string): string {
  let end = line.length;
  while (end > 0 && ' \t\r'.includes(line.charAt(end - 1))) end -= 1;
  return line.slice(0, end);
}
