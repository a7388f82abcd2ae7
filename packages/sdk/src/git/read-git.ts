/**
 * The state of HEAD, a reference or the index, in a form that can be kept and compared later.
 *
 * The reflog is part of the exact reading: a commit that was made and taken back, or a branch that was deleted and made
 * again, leaves its lines there.
 */
import { hash as digestOf } from 'node:crypto';
import type { GitRepository } from '../contracts/git.ts';
import type { Reading } from '../contracts/rehearsal.ts';
import { headCommit } from './head-commit.ts';
import { findObjects } from './resolve-revisions.ts';

type Repository = Pick<GitRepository, 'run' | 'files'>;

export const HEAD_SUBJECT = 'git:HEAD';
export const INDEX_SUBJECT = 'git:index';
const REF_SUBJECT = 'git:refs/';

export function branchSubject(name: string): string {
  return `${REF_SUBJECT}heads/${name}`;
}

/** Undefined for an unknown subject. */
export async function readGit(git: Repository, subject: string): Promise<Reading | undefined> {
  if (subject === HEAD_SUBJECT) return readHead(git);
  if (subject === INDEX_SUBJECT) return readIndex(git);
  return subject.startsWith(REF_SUBJECT) ? readRef(git, subject.slice('git:'.length)) : undefined;
}

/** Content of HEAD as `readHead` reports it: a commit is known by what it was made from. */
export function commitContent(parent: string | null, files: string, message: string): string {
  return `commit:${parent ?? 'none'}:${files}:${sha256(plainMessage(message))}`;
}

/** Digest of all entries of the index, comparable with that of a commit's tree. Undefined while files are unmerged. */
export async function stagedFiles(git: Repository): Promise<string | undefined> {
  const { stdout } = await git.run({ words: ['ls-files', '--stage', '-z'], access: 'read' });
  const entries = split(stdout).map((line) => /^(\d+) ([0-9a-f]+) (\d)\t(.*)$/s.exec(line) ?? []);
  if (entries.some(([, , , stage]) => stage !== '0')) return undefined;
  return filesDigest(entries.map(([, mode = '', hash = '', , path = '']) => ({ mode, hash, path })));
}

async function readHead(git: Repository): Promise<Reading> {
  const [head, branch, log] = await Promise.all([headCommit(git), git.files.read('HEAD'), git.files.read('logs/HEAD')]);
  const exact = `${head?.hash ?? 'none'}@${sha256(branch ?? '')}:${sha256(log ?? '')}`;
  if (head === undefined) return { content: 'none', exact };
  const [files, message] = await Promise.all([committedFiles(git, head.tree), messageOf(git, head.hash)]);
  const { hash: commit, tree, parent } = head;
  return { content: commitContent(parent, files, message), exact, found: { commit, tree, parent } };
}

async function readIndex(git: Repository): Promise<Reading> {
  const content = sha256((await git.files.read('index')) ?? '');
  return { content, exact: content };
}

async function readRef(git: Repository, ref: string): Promise<Reading> {
  const [[hash = 'missing'], log] = await Promise.all([findObjects(git, [ref]), git.files.read(`logs/${ref}`)]);
  return { content: hash, exact: `${hash}@${sha256(log ?? '')}` };
}

async function committedFiles(git: Repository, tree: string): Promise<string> {
  const { stdout } = await git.run({ words: ['ls-tree', '-r', '-z', '--full-tree', tree], access: 'read' });
  const entries = split(stdout).map((line) => /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? []);
  return filesDigest(entries.map(([, mode = '', hash = '', path = '']) => ({ mode, hash, path })));
}

async function messageOf(git: Repository, hash: string): Promise<string> {
  const { stdout } = await git.run({ words: ['cat-file', 'commit', hash], access: 'read' });
  const text = stdout.toString('utf8');
  return text.slice(text.indexOf('\n\n') + 2);
}

/** As git tidies messages, and without sign-offs, whose place depends on the text above them. */
function plainMessage(message: string): string {
  return message
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !line.startsWith('Signed-off-by: '))
    .join('\n');
}

function filesDigest(
  files: readonly { readonly mode: string; readonly hash: string; readonly path: string }[],
): string {
  const lines = files.map(({ mode, hash, path }) => `${path}\0${Number.parseInt(mode, 8)}\0${hash}`).sort();
  return sha256(lines.join('\n'));
}

function split(stdout: Buffer): readonly string[] {
  return stdout
    .toString('latin1')
    .split('\0')
    .filter((line) => line !== '');
}

function sha256(data: string | Uint8Array): string {
  return digestOf('sha256', data, 'hex');
}
