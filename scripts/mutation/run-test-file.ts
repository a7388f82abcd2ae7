/** Runs one test file in a process group of its own, and stops it at the first test that fails. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { GuardTest } from './guard.ts';
import type { WorkCopy } from './work-copy.ts';

export type TestOutcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly test: string }
  /** The file did not load, was killed or took too long: that says nothing about a check. */
  | { readonly kind: 'broken'; readonly reason: string };

const FILE_LIMIT_MS = 120_000;
const TEST_LIMIT_MS = 30_000;
/** After a failure the file may still clean up. */
const GRACE_MS = 1_000;
const SHOWN_CHARACTERS = 2_000;
const SEEDS = './scripts/test-process.ts';

/** The first `not ok` is the innermost test: subtests are reported before what holds them. */
const FAILED = /^\s*not ok \d+ - (.*?)(?: # time=.*)?$/;
/** A file of which no test was chosen passes as a test of its own name, so totals say nothing. */
const PASSED = /^\s*ok \d+ - (.*)$/;

export async function runTestFile(test: GuardTest, copy: WorkCopy): Promise<TestOutcome> {
  const child = startTest(test, copy);
  const end = () => endGroup(child);
  process.once('exit', end);
  let failed: string | undefined;
  let passed = 0;
  let output = '';
  let isLate = false;
  const timers = [
    setTimeout(() => {
      isLate = true;
      end();
    }, FILE_LIMIT_MS),
  ];
  const read = async (stream: NodeJS.ReadableStream) => {
    for await (const line of createInterface({ input: stream })) {
      output = `${output}${line}\n`.slice(-SHOWN_CHARACTERS);
      const done = PASSED.exec(line)?.[1];
      if (done !== undefined && !done.endsWith(path.basename(test.file))) passed += 1;
      const name = FAILED.exec(line)?.[1];
      if (name === undefined || failed !== undefined) continue;
      failed = name;
      timers.push(setTimeout(end, GRACE_MS));
    }
  };
  const reading = Promise.all(
    [child.stdout, child.stderr].map((stream) => (stream === null ? undefined : read(stream))),
  );
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  await reading;
  for (const timer of timers) clearTimeout(timer);
  process.removeListener('exit', end);
  end();
  if (isLate) return { kind: 'broken', reason: `not over after ${FILE_LIMIT_MS / 1000} s` };
  if (failed !== undefined && !failed.endsWith(path.basename(test.file))) {
    return { kind: 'failed', test: unescaped(failed) };
  }
  if (code !== 0) return { kind: 'broken', reason: output };
  return passed === 0 ? { kind: 'broken', reason: 'no test of this name' } : { kind: 'passed' };
}

function startTest({ file, name }: GuardTest, copy: WorkCopy): ChildProcess {
  const seeds = existsSync(path.join(copy.folder, SEEDS)) ? ['--import', SEEDS] : [];
  const options = ['--test', '--test-reporter=tap', `--test-timeout=${TEST_LIMIT_MS}`];
  if (name !== undefined) options.push(`--test-name-pattern=${RegExp.escape(name)}`);
  return spawn(process.execPath, ['-C', 'tool-runtime-source', ...seeds, ...options, file], {
    cwd: copy.folder,
    // CI: one seed for the random tests. Without a test context: run from within a test, the runner would do nothing.
    env: { ...process.env, CI: 'true', NODE_TEST_CONTEXT: undefined, TMPDIR: copy.scratch },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
}

/** Everything that the test started and left in its group ends with it. */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group is empty.
  }
}

function unescaped(name: string): string {
  return name.replace(/\\([\\#])/g, '$1');
}
