/**
 * Random histories and edits: what the git tools answer is what git itself says, run directly. The tools read machine
 * formats; the comparison reads git's other formats, so that a shared misreading cannot hide.
 */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { gitAdd } from '../src/tools/git/git-add.ts';
import { gitDiff } from '../src/tools/git/git-diff.ts';
import { gitLog } from '../src/tools/git/git-log.ts';
import { type FileSet, type GitRuntime, type TestRepository, withRepository } from './git-repository.ts';

const SEED = 20_261_115;
const NAMES = ['a', 'b c', 'dir/x', 'dir/y "q"', 'dir/deep/é\tt', '[z]', '-o', 'n\nl'] as const;

const content = fc.oneof(
  fc
    .array(fc.constantFrom('one', 'two', 'three', '', 'a longer line of text'), { maxLength: 6 })
    .map((lines) => lines.map((line) => `${line}\n`).join('')),
  fc.constantFrom('no newline at end', 'bin\0ary', 'cr\r\nlf\r\n'),
);
const edits = fc.dictionary(fc.constantFrom(...NAMES), fc.option(content, { nil: null }), { maxKeys: 4 });
const message = fc.constantFrom('feat: x', 'fix: y\n\nbody', 'chore: "ünïcode"\n\nmore\nlines\n\nTrailer: z');

/** Long and different enough for git to see where a file went. */
const BASE: FileSet = Object.fromEntries(NAMES.map((name) => [name, `${name}\n`.repeat(20)]));

const scenario = fc.record({
  base: fc.constantFrom(BASE, BASE, undefined),
  history: fc.array(fc.record({ files: edits, message }), { maxLength: 3 }),
  staged: edits,
  moves: fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom('moved', 'dir/moved to')), { maxLength: 2 }),
  loose: edits,
  picked: fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 }),
});

test('status, diff, log and add agree with git on random histories and edits [S0-42 S0-43 S0-44]', async () => {
  await withRepository({ tools: [gitAdd, gitDiff, gitLog] }, async (repository, runtime) => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ base, history, staged, moves, loose, picked }) => {
        restart(repository);
        if (base !== undefined) repository.commit(base);
        for (const { files, message: text } of history) repository.commit(files, text);
        repository.write(staged as FileSet);
        for (const move of moves) rename(repository, move);
        repository.git('add', '--all');
        repository.write(loose as FileSet);
        await compareStatus(repository, runtime);
        await compareDiff(repository, runtime);
        await compareLog(repository, runtime);
        await compareAdd(repository, runtime, picked);
      }),
      { seed: SEED, numRuns: 15 },
    );
  });
});

/** The same folder with nothing in it: opening a runtime costs more than all the rest. */
function restart(repository: TestRepository): void {
  repository.git('checkout', '--quiet', '--orphan', 'fresh');
  repository.git('rm', '-r', '--quiet', '--force', '--ignore-unmatch', '.');
  repository.git('clean', '-d', '--force', '--quiet');
  repository.gitCode('branch', '--delete', '--force', 'main');
  repository.git('checkout', '--quiet', '--orphan', 'main');
}

function rename(repository: TestRepository, [from, to]: readonly [string, string]): void {
  if (!existsSync(repository.path(from))) return;
  mkdirSync(dirname(repository.path(to)), { recursive: true });
  renameSync(repository.path(from), repository.path(to));
}

interface Status {
  changes: { path: string; status: string; from?: string }[];
  head: string | null;
}

/** `XY path NUL`, with the former name behind a renamed one. */
function porcelain(repository: TestRepository): string[] {
  const fields = repository.git('status', '--porcelain=v1', '-z', '--untracked-files=all').split('\0').filter(Boolean);
  const lines: string[] = [];
  for (let at = 0; at < fields.length; at++) {
    const field = fields[at] ?? '';
    const from = /^R|^.R/.test(field) ? ` < ${fields[++at]}` : '';
    lines.push(`${field.slice(0, 2).replaceAll(' ', '')} ${field.slice(3)}${from}`);
  }
  return lines.sort();
}

async function compareStatus(repository: TestRepository, runtime: GitRuntime): Promise<void> {
  const { changes, head } = await runtime.call<Status>('git_status');
  const found = changes.map(({ path, status, from }) => `${status} ${path}${from === undefined ? '' : ` < ${from}`}`);
  assert.deepEqual(found.sort(), porcelain(repository));
  const known = repository.gitCode('rev-parse', '--verify', '--quiet', 'HEAD') === 0;
  assert.equal(head, known ? repository.git('rev-parse', 'HEAD').trim() : null);
}

interface Diff {
  patch: string;
  files: { path: string; additions: number; deletions: number; binary: boolean }[];
}

async function compareDiff(repository: TestRepository, runtime: GitRuntime): Promise<void> {
  const isBorn = repository.gitCode('rev-parse', '--verify', '--quiet', 'HEAD') === 0;
  const base = isBorn ? 'HEAD' : repository.git('hash-object', '-t', 'tree', '/dev/null').trim();
  for (const [args, words] of [
    [{}, [base]],
    [{ staged: true }, ['--cached', base]],
    [{ paths: ['dir/**'] }, [base, '--', 'dir']],
  ] as const) {
    const { patch, files } = await runtime.call<Diff>('git_diff', args);
    const direct = (...options: readonly string[]) =>
      repository.git('-c', 'core.quotePath=false', 'diff', '--find-renames', ...options, ...words);
    assert.equal(patch, direct());
    const names = direct('--name-only', '-z').split('\0').filter(Boolean);
    assert.deepEqual(
      files.map(({ path }) => path),
      names,
    );
    const totals = files.reduce(
      (sum, file) => [(sum[0] ?? 0) + file.additions, (sum[1] ?? 0) + file.deletions],
      [0, 0],
    );
    const short = direct('--shortstat');
    assert.deepEqual(totals, [countIn(short, 'insertion'), countIn(short, 'deletion')]);
  }
}

function countIn(shortstat: string, word: string): number {
  return Number(new RegExp(`(\\d+) ${word}`).exec(shortstat)?.[1] ?? 0);
}

interface Log {
  commits: { hash: string; subject: string; body: string; parents: string[] }[];
}

async function compareLog(repository: TestRepository, runtime: GitRuntime): Promise<void> {
  const { commits } = await runtime.call<Log>('git_log');
  const isBorn = repository.gitCode('rev-parse', '--verify', '--quiet', 'HEAD') === 0;
  const hashes = isBorn ? repository.git('rev-list', 'HEAD').trim().split('\n') : [];
  assert.deepEqual(
    commits.map(({ hash }) => hash),
    hashes,
  );
  for (const { hash, subject, body } of commits) {
    const raw = repository.git('cat-file', 'commit', hash);
    const text = raw.slice(raw.indexOf('\n\n') + 2).trimEnd();
    assert.equal(body === '' ? subject : `${subject}\n\n${body}`, text);
  }
}

async function compareAdd(repository: TestRepository, runtime: GitRuntime, picked: readonly string[]): Promise<void> {
  const before = entries(repository);
  const response = await runtime.ask('git_add', { paths: picked });
  const after = entries(repository);
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
  if (!response.ok) {
    assert.equal(response.errors[0]?.details?.['reason'], 'no_match');
    assert.deepEqual(changed, []);
    return;
  }
  const { added, paths } = response.data as unknown as { added: number; paths: string[] };
  assert.deepEqual([added, [...paths].sort()], [changed.length, changed.sort()]);
  const left = repository.git('status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames').split('\0');
  const missed = left.filter((line) => /^.[^ ]/.test(line) && picked.includes(line.slice(3)));
  assert.deepEqual(missed, []);
}

function entries(repository: TestRepository): Map<string, string> {
  const lines = repository.git('ls-files', '--stage', '-z').split('\0').filter(Boolean);
  return new Map(lines.map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, line.indexOf('\t'))]));
}
