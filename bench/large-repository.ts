/** A git repository of many files and commits, made in one go by fast-import. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';

export interface RepositorySize {
  readonly files: number;
  readonly commits: number;
}

const FILES_PER_FOLDER = 100;
const COMMITTER = 'committer Bench <bench@example.org>';

export async function makeLargeRepository(folder: string, { files, commits }: RepositorySize): Promise<void> {
  mkdirSync(folder);
  const git = (...words: string[]): void => void execFileSync('git', words, { cwd: folder, stdio: 'ignore' });
  git('init', '-q', '-b', 'main');
  git('config', 'user.name', 'Bench');
  git('config', 'user.email', 'bench@example.org');
  const child = spawn('git', ['fast-import', '--quiet'], { cwd: folder, stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.stdin.write(firstCommit(files));
  for (let commit = 1; commit < commits; commit++) child.stdin.write(nextCommit(commit, files));
  child.stdin.end();
  await ended;
  git('reset', '-q', '--hard');
}

function pathOf(file: number): string {
  return `dir${Math.floor(file / FILES_PER_FOLDER)}/file${file}.txt`;
}

function firstCommit(files: number): string {
  const entries = Array.from({ length: files }, (_, file) => `M 644 inline ${pathOf(file)}\n${data(body(file, 0))}`);
  return `commit refs/heads/main\n${COMMITTER} 1700000000 +0000\n${data('chore: begin')}${entries.join('')}`;
}

function nextCommit(commit: number, files: number): string {
  const file = (commit * 7919) % files;
  const head = `commit refs/heads/main\n${COMMITTER} ${1_700_000_000 + commit * 60} +0000\n${data(`chore: commit ${commit}`)}`;
  return `${head}M 644 inline ${pathOf(file)}\n${data(body(file, commit))}`;
}

function body(file: number, commit: number): string {
  return `file ${file}\n${'some ordinary text in a line\n'.repeat(20)}commit ${commit}\n`;
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
