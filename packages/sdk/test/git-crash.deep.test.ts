/**
 * A runtime killed at random moments while git works: afterwards git_recover, with the point found in the repository, brings
 * everything back byte for byte, whatever git had begun. A kill before the point is complete must have changed nothing.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { gitRecover } from '../src/tools/git/git-recover.ts';
import { createRepository, type FileSet, openGitRuntime, type TestRepository } from './git-repository.ts';
import { type RepositoryState, stateOf } from './git-state.ts';

const CHILD = new URL('./git-crash-child.ts', import.meta.url).pathname;
const KILLS = 2;
const FILES = 100;

function contents(version: string): FileSet {
  const names = Array.from({ length: FILES }, (_, at) => `folder ${at % 7}/file "${at}" ü.txt`);
  return Object.fromEntries(names.map((name) => [name, `${version} ${name}\n`.repeat(400)]));
}

/** main and side changed the same files; on both there is what the other has not. */
function plant(): TestRepository {
  const repository = createRepository({
    files: {
      ...contents('base'),
      '.gitattributes': '*.txt text\n',
      '.gitignore': 'ignored/\n',
      'run.sh': { text: 'base\n', mode: 0o755 },
      link: { link: 'run.sh' },
      shape: 'a file\n',
      'clash.txt': 'base\n',
      'crlf.txt': 'clean\r\nthough\r\n',
    },
  });
  repository.git('switch', '--quiet', '-c', 'side');
  for (const step of ['one', 'two', 'three']) {
    repository.commit(
      { ...contents(step), [`new/${step}.txt`]: `${step}\n`.repeat(5000), 'crlf.txt': `${step}\n` },
      step,
    );
  }
  repository.commit({ shape: null }, 'shape goes');
  repository.commit({ 'shape/inner.txt': 'a folder\n', link: 'a file\n', 'run.sh': 'side\n' }, 'shape comes');
  repository.git('switch', '--quiet', 'main');
  repository.commit({ 'main.txt': 'main\n' }, 'main');
  repository.git('branch', 'clashing', 'side');
  repository.git('switch', '--quiet', 'clashing');
  repository.commit({ 'clash.txt': 'side\n' }, 'clash');
  repository.git('switch', '--quiet', 'main');
  repository.commit({ 'clash.txt': 'main\n' }, 'clash too');
  repository.write({ 'crlf.txt': 'clean\r\nthough\r\n' });
  repository.git('add', 'crlf.txt');
  repository.write({
    'untracked.bin': Buffer.from([0, 255, 13, 10]),
    'untracked link': { link: '../nowhere' },
    'un/run\nme': { text: 'x\n', mode: 0o755 },
    'ignored/x': 'ignored\n',
  });
  return repository;
}

interface Call {
  readonly tool: string;
  readonly args: object;
}

/** Undefined when it was killed. */
async function runChild(repository: TestRepository, { tool, args }: Call, killAfterMs: number | undefined) {
  const child = spawn(
    process.execPath,
    ['-C', 'tool-runtime-source', CHILD, repository.folder, tool, JSON.stringify(args)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const over = once(child, 'exit');
  let began = 0;
  let end: { readonly said: string; readonly tookMs: number } | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'begins') {
      began = performance.now();
      if (killAfterMs !== undefined) void wait(killAfterMs).then(() => child.kill('SIGKILL'));
    } else end = { said: line, tookMs: performance.now() - began };
  }
  await over;
  await untilAlone(repository);
  return end;
}

/**
 * The sandbox ends git with the runtime, which takes the kernel a moment. A sandbox that was being built when it lost its
 * other half waits for ever and never starts anything: that one is taken away.
 */
async function untilAlone({ folder }: TestRepository): Promise<void> {
  for (let looks = 0; ; looks++) {
    const left = processesOf(folder);
    if (left.length === 0) return;
    if (looks > 100) for (const { pid, line } of left) if (line.startsWith('/usr/bin/bwrap')) endProcess(pid);
    await wait(20);
  }
}

function processesOf(folder: string): readonly { readonly pid: number; readonly line: string }[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return line.includes(folder) ? [{ pid, line }] : [];
    } catch {
      return [];
    }
  });
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Ended meanwhile.
  }
}

function points(repository: TestRepository): readonly string[] {
  return repository
    .git('for-each-ref', '--format=%(refname)', 'refs/tool-runtime/recovery/')
    .split('\n')
    .filter(Boolean);
}

/** Half-written files of our own have names a later start sweeps. */
function sweep({ folder }: TestRepository): void {
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (/(?:^|\/)\.tool-runtime-tmp-[-0-9a-f]+$/.test(entry)) rmSync(join(folder, entry));
  }
}

async function recoverTo(repository: TestRepository, recovery: string, expected: RepositoryState): Promise<void> {
  const runtime = await openGitRuntime(repository, { tools: [gitRecover] });
  await runtime.call('git_recover', { recovery });
  await runtime.dispose();
  sweep(repository);
  assert.deepEqual(stateOf(repository), expected);
}

/** Lets the call end once, then interrupts it several times. What git complained about is part of what was said. */
async function interrupt(repository: TestRepository, call: Call, expectedEnd: RegExp): Promise<void> {
  const before = stateOf(repository);
  const known = points(repository);
  const whole = await runChild(repository, call, undefined);
  assert.match(whole?.said ?? '', expectedEnd);
  const [first = ''] = points(repository).filter((ref) => !known.includes(ref));
  await recoverTo(repository, first, before);
  for (let kill = 0; kill < KILLS; kill++) {
    const earlier = points(repository);
    await runChild(repository, call, Math.random() * (whole?.tookMs ?? 0));
    const [made] = points(repository).filter((ref) => !earlier.includes(ref));
    if (made === undefined) assert.deepEqual(stateOf(repository), before, 'nothing was begun');
    else await recoverTo(repository, made, before);
  }
}

describe('git killed at work [S0-51]', () => {
  test('in the middle of a merge, with and without conflicts [S0-47]', async () => {
    const repository = plant();
    await interrupt(repository, { tool: 'git_merge', args: { branch: 'side' } }, /^ends true/);
    await interrupt(repository, { tool: 'git_merge', args: { branch: 'clashing' } }, /^ends true/);
    repository.dispose();
  });

  test('in the middle of a rebase, and of taking one back [S0-48]', async () => {
    const repository = plant();
    repository.git('switch', '--quiet', 'side');
    repository.write({ 'crlf.txt': 'three\r\n' });
    repository.git('add', 'crlf.txt');
    await interrupt(repository, { tool: 'git_rebase', args: { onto: 'main' } }, /^ends true/);
    repository.git('switch', '--quiet', 'clashing');
    // Why it stops is for the tests of git_rebase; here it must stop, and everything must come back.
    await interrupt(repository, { tool: 'git_rebase', args: { onto: 'main' } }, /^ends false (?:conflicts|stopped)/);
    repository.dispose();
  });

  test('in the middle of a restore [S0-51]', async () => {
    const repository = plant();
    repository.write({ ...contents('dirty'), 'run.sh': { text: 'dirty\n', mode: 0o644 }, link: null, shape: null });
    repository.write({ 'shape/untracked': 'x\n' });
    repository.git('add', 'folder 1');
    await interrupt(repository, { tool: 'git_restore', args: { paths: ['.'], staged: true } }, /^ends true/);
    repository.dispose();
  });

  test('in the middle of going back: it can be started again [S0-51]', async () => {
    const repository = plant();
    // What git calls clean, only the verb that writes over it saves; here another one does.
    repository.write({ ...contents('dirty'), 'run.sh': null, 'crlf.txt': 'clean\nthough\n' });
    repository.git('add', 'folder 2', 'crlf.txt');
    const before = stateOf(repository);
    await runChild(repository, { tool: 'git_restore', args: { paths: ['folder 3'] } }, undefined);
    const [point = ''] = points(repository);
    repository.git('switch', '--quiet', '--force', 'side');
    const call = { tool: 'git_recover', args: { recovery: point } };
    const whole = await runChild(repository, call, undefined);
    assert.match(whole?.said ?? '', /^ends true/);
    for (let kill = 0; kill < KILLS; kill++) {
      repository.git('switch', '--quiet', '--force', 'side');
      await runChild(repository, call, Math.random() * (whole?.tookMs ?? 0));
      await recoverTo(repository, point, before);
    }
    repository.dispose();
  });
});
