/**
 * npm test, npm run test:deep, npm run t: chooses test files and runs them.
 *
 * Deep tests take long: fault and kill loops, races, differential runs, load, enumerations. They are the files named
 * `*.deep.test.ts`, and in other files the tests and suites whose title ends with "(deep)". `npm test` leaves them to
 * `npm run test:deep`; `npm run t -- <words>` runs both kinds. Files whose path contains every word run whole. If there
 * is none, the tests whose title contains the words as one phrase run.
 *
 * Loading the sources costs more than most fast tests do. So in `npm test` the files of a package that change nothing in
 * their process share processes; everywhere else each file has its own.
 *
 * Tests create and delete files all the time. ext4 does not reuse an inode for some seconds, and looking for others took
 * half of the CPU of a run. So root's runs have their scratch folder in memory, in a mount namespace that ends with them.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { run as startTests } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const TEST_FILES = ['packages/*/{src,test}/**/*.test.ts', '{scripts,examples,test}/**/*.test.ts', 'bench/*.test.ts'];
const EXCLUDED = ['**/node_modules/**', '**/dist/**'];
const DEEP_FILE = /\.deep\.test\.ts$/;
/** As the title is written in the source. */
const DEEP_TITLE = /\(deep\)['"`]/;
const DEEP_PATTERN = '/\\(deep\\)$/';
/** Ends a test that hangs. The slowest takes two minutes, so that a busy machine does not reach it. */
const TEST_LIMIT_MS = 900_000;
/** Loaded before every test file. */
const PREPARATION = './scripts/test-process.ts';
/** What a test does not touch that shares its process. Hooks of a whole file would be hooks of its neighbours too. */
const PROCESS_WIDE = [
  /process\.(?:chdir|on\(|once\(|exit|env\b|umask|title|std(?:in|out|err)|memoryUsage|cpuUsage|resourceUsage)/,
  /\bgc\(|\bmock\.|\btraceFiles\(|globalThis|\/proc\/self|worker_threads|registerHooks|node:v8|import\.meta\.main/,
  /^(?:before|beforeEach|after|afterEach)\(/m,
];
const FILES_PER_PROCESS = 24;
const SHARED = 'node_modules/.cache/test-batches';
/** Half of its time a test waits for programs it started. */
const FILES_PER_CORE = 2;
const SHOWN = 10;
const USAGE = 'Usage: npm run t -- <words of a path or of a title> [--watch], or --fast, --deep or --all for a suite';

export type Suite = 'fast' | 'deep' | 'all';

export interface Choice {
  readonly files: readonly string[];
  /** Only the tests whose title matches this regular expression, in the form node:test reads. */
  readonly only?: string;
  /** All tests but those whose title matches this one. */
  readonly without?: string;
}

export function chooseSuite(suite: Suite, cwd: string): readonly Choice[] {
  const all = listTests(cwd);
  const isDeep = (file: string): boolean => DEEP_FILE.test(file);
  const mixed = all.filter((file) => !isDeep(file));
  if (suite === 'all') return [{ files: all }];
  if (suite === 'fast') return [{ files: mixed, without: DEEP_PATTERN }];
  return [
    { files: all.filter(isDeep) },
    { files: mixed.filter((file) => DEEP_TITLE.test(read(cwd, file))), only: DEEP_PATTERN },
  ];
}

export function chooseTests(words: readonly string[], cwd: string): Choice {
  const all = listTests(cwd);
  const lower = words.map((word) => word.toLowerCase());
  const byPath = all.filter((file) => lower.every((word) => file.toLowerCase().includes(word)));
  if (byPath.length > 0) return { files: byPath };
  const title = words.join(' ');
  const phrase = title.toLowerCase();
  const files = all.filter((file) => read(cwd, file).toLowerCase().includes(phrase));
  return { files, only: `/${RegExp.escape(title)}/i` };
}

function listTests(cwd: string): string[] {
  return globSync(TEST_FILES, { cwd, exclude: EXCLUDED }).sort();
}

function read(cwd: string, file: string): string {
  return readFileSync(`${cwd}/${file}`, 'utf8');
}

/** From what tests the whole product to what tests one source, as the time goes down on the way: no long file begins last. */
const PLACES = [/^test\//, /^(?:scripts|examples|bench)\//, /^packages\/[^/]+\/test\//];

export function longestFirst(files: readonly string[]): string[] {
  const placeOf = (file: string): number => {
    const at = PLACES.findIndex((place) => place.test(file));
    return at < 0 ? PLACES.length : at;
  };
  return files.toSorted((one, other) => placeOf(one) - placeOf(other));
}

export interface Batch {
  /** `sdk-3.test.mjs`: a module that imports the files. */
  readonly name: string;
  readonly files: readonly string[];
}

/** Files that can share a process, package by package, and the others. */
export function planBatches(files: readonly string[], cwd: string): { batches: Batch[]; alone: string[] } {
  const isShared = (file: string): boolean => PROCESS_WIDE.every((pattern) => !pattern.test(read(cwd, file)));
  const { shared = [], alone = [] } = Object.groupBy(files, (file) => (isShared(file) ? 'shared' : 'alone'));
  const batches = Object.entries(Object.groupBy(shared, packageOf)).flatMap(([name, members = []]) =>
    Array.from({ length: Math.ceil(members.length / FILES_PER_PROCESS) }, (_, index) => ({
      name: `${name}-${index}.test.mjs`,
      files: members.slice(index * FILES_PER_PROCESS, (index + 1) * FILES_PER_PROCESS),
    })),
  );
  return { batches, alone };
}

function packageOf(file: string): string {
  const [root = '', name = ''] = file.split('/');
  return root === 'packages' ? name : root;
}

function writeBatches(files: readonly string[], cwd: string): string[] {
  const { batches, alone } = planBatches(files, cwd);
  const folder = resolve(cwd, SHARED);
  mkdirSync(folder, { recursive: true });
  for (const batch of batches) {
    const imports = batch.files.map((file) => `import ${JSON.stringify(pathToFileURL(resolve(cwd, file)).href)};\n`);
    writeFileSync(resolve(folder, batch.name), imports.join(''));
  }
  return [...batches.map(({ name }) => resolve(folder, name)), ...longestFirst(alone)];
}

async function run({ files, only, without }: Choice, isWatching: boolean): Promise<void> {
  const events = startTests({
    files: files.map((file) => resolve(file)),
    concurrency: FILES_PER_CORE * availableParallelism(),
    timeout: TEST_LIMIT_MS,
    execArgv: ['-C', 'tool-runtime-source', '--import', PREPARATION],
    watch: isWatching,
    ...(only === undefined ? {} : { testNamePatterns: only }),
    ...(without === undefined ? {} : { testSkipPatterns: without }),
  });
  const seconds = new Map<string, number>();
  events.on('test:fail', () => {
    process.exitCode = 1;
  });
  events.on('test:complete', ({ name, nesting, file = '', details }) => {
    // A process is reported as a test too, around its tests and named after its file.
    if (nesting > 0 || resolve(name) === file) return;
    const known = relative('.', file);
    seconds.set(known, (seconds.get(known) ?? 0) + details.duration_ms / 1000);
  });
  for await (const text of events.compose(new spec())) process.stdout.write(text);
  console.log(slowestFiles(seconds));
}

/** The ten files whose tests took longest, nothing for a run of one file. */
export function slowestFiles(seconds: ReadonlyMap<string, number>): string {
  if (seconds.size < 2) return '';
  const total = [...seconds.values()].reduce((sum, one) => sum + one, 0);
  const lines = [...seconds]
    .sort(([, a], [, b]) => b - a)
    .slice(0, SHOWN)
    .map(([name, one]) => `${one.toFixed(1).padStart(7)} s  ${name}`);
  return [`Slowest of ${seconds.size} files, which took ${total.toFixed(0)} s in all:`, ...lines].join('\n');
}

/** Runs this command again with a scratch folder in memory. */
async function runInMemory(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-tests-'));
  const mounted = 'mount -t tmpfs -o mode=1777,size=50% tool-runtime-tests "$TMPDIR" && exec "$@"';
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const child = spawn('unshare', ['--mount', 'sh', '-c', mounted, 'sh', ...command], {
    stdio: 'inherit',
    env: { ...process.env, TMPDIR: folder },
  });
  // A signal from the terminal reaches both; the child ends first and the folder is removed.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  rmdirSync(folder);
  process.exitCode = code ?? 1;
}

/** Only where nothing else was asked for, and where a mount is allowed: many containers have a root that may not. */
function canMount(): boolean {
  if (process.env['TMPDIR'] !== undefined || process.getuid?.() !== 0) return false;
  return spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tool-runtime-tests', tmpdir()]).status === 0;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      watch: { type: 'boolean' },
      fast: { type: 'boolean' },
      deep: { type: 'boolean' },
      all: { type: 'boolean' },
    },
  });
  const suites = (['fast', 'deep', 'all'] as const).filter((name) => values[name] === true);
  const [suite] = suites;
  if (suites.length + (positionals.length > 0 ? 1 : 0) !== 1) return fail(USAGE);
  const cwd = process.cwd();
  const choices = suite === undefined ? [chooseTests(positionals, cwd)] : chooseSuite(suite, cwd);
  let runs = choices.filter(({ files }) => files.length > 0);
  if (runs.length === 0) return fail(`No test file and no test title contains: ${positionals.join(' ')}`);
  if (canMount()) return runInMemory();
  process.env['NODE_COMPILE_CACHE'] ??= resolve('node_modules/.cache/compiled');
  const order = suite === 'fast' ? (files: readonly string[]) => writeBatches(files, cwd) : longestFirst;
  runs = runs.map((choice) => ({ ...choice, files: order(choice.files) }));
  for (const choice of runs) await run(choice, values.watch === true);
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 2;
}

if (import.meta.main) await main();
