/** Runs one set of the official conformance suite as its users do, and reads what it wrote down. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from '../compile-cache.ts';

export interface SuiteSet {
  readonly name: string;
  /** The suite, without options about output. */
  readonly command: readonly string[];
}

export interface Scenario {
  readonly name: string;
  readonly isScored: boolean;
  readonly passed: number;
  /** What did not hold. */
  readonly failures: readonly string[];
  readonly warnings: readonly string[];
}

export interface SuiteResult {
  readonly name: string;
  /** Null when the set was ended at its time limit. */
  readonly exitCode: number | null;
  /** Scenarios whose client was ended at its time limit. */
  readonly timedOut: readonly string[];
  readonly scenarios: readonly Scenario[];
  /** Everything it printed, for finding out why. */
  readonly output: string;
}

interface Check {
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'INFO' | 'SKIPPED';
  readonly id: string;
  readonly errorMessage?: string;
}

/** A set that takes longer hangs. */
export const SET_LIMIT_MS = 1_200_000;
/** A client that takes longer hangs, also on a busy machine. */
const CLIENT_LIMIT_SECONDS = 120;

export const SUITE = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));
export const SUITE_2025 = fileURLToPath(import.meta.resolve('conformance-2025/dist/index.js'));

/** `server-tools-list-2026-11-15T16-56-21-664Z/checks.json`; names may hold slashes. */
const CHECKS_FILE = /^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z\/checks\.json$/;
/** Lines below the suite's own heading of what it ran for information only. */
const UNSCORED_LINE = /^ {2}[✓✗] (\S+) \(/gm;

export async function runSuite({ name, command }: SuiteSet): Promise<SuiteResult> {
  const folder = await mkdtemp(join(tmpdir(), 'conformance-'));
  try {
    const child = spawn(process.execPath, [...command, '--output-dir', folder], {
      env: {
        ...process.env,
        ...COMPILE_CACHE,
        CONFORMANCE_FOLDER: folder,
        CONFORMANCE_CLIENT_SECONDS: String(CLIENT_LIMIT_SECONDS),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: SET_LIMIT_MS,
    });
    const printed: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => printed.push(text));
    const [exitCode] = (await once(child, 'close')) as [number | null];
    const output = printed.join('');
    const timedOut = await readTimedOut(folder);
    return { name, exitCode, timedOut, scenarios: await readScenarios(folder, output), output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Scored scenarios that did not hold, and a suite that ended badly for a reason of its own. */
export function problemsOf({ name, exitCode, timedOut, scenarios }: SuiteResult): readonly string[] {
  if (exitCode === null) return [`${name}: timed out after ${SET_LIMIT_MS / 1000} s`];
  const failed = scenarios
    .filter((scenario) => scenario.isScored && (scenario.failures.length > 0 || timedOut.includes(scenario.name)))
    .map((scenario) => {
      if (timedOut.includes(scenario.name)) return `${name}: ${scenario.name}: timed out`;
      return `${name}: ${scenario.name}: ${scenario.failures.join('; ')}`;
    });
  if (scenarios.length === 0) return [`${name}: nothing ran`];
  return failed.length === 0 && exitCode !== 0 ? [`${name}: the suite ended with ${exitCode}`] : failed;
}

/** Written by `run-client.sh`. */
async function readTimedOut(folder: string): Promise<readonly string[]> {
  const names = await readFile(join(folder, 'timed-out'), 'utf8').catch(() => '');
  return names.split('\n').filter((line) => line !== '');
}

async function readScenarios(folder: string, output: string): Promise<readonly Scenario[]> {
  const unscored = new Set(Array.from(output.matchAll(UNSCORED_LINE), ([, name]) => name));
  const scenarios: Scenario[] = [];
  for await (const file of glob('**/checks.json', { cwd: folder })) {
    const name = CHECKS_FILE.exec(file)?.[1] ?? file;
    const checks = JSON.parse(await readFile(join(folder, file), 'utf8')) as readonly Check[];
    const of = (status: Check['status']): readonly Check[] => checks.filter((check) => check.status === status);
    scenarios.push({
      name,
      isScored: !unscored.has(name),
      passed: of('SUCCESS').length,
      failures: of('FAILURE').map(describe),
      warnings: of('WARNING').map(describe),
    });
  }
  return scenarios.sort((left, right) => (left.name < right.name ? -1 : 1));
}

function describe({ id, errorMessage = 'no reason given' }: Check): string {
  return `${id} (${errorMessage})`;
}
