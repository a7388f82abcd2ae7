/**
 * npm run t -- <words> [--watch]: runs the tests that fit the words.
 *
 * Files whose path holds every word are run whole. When there is none, the tests whose title holds the words as one
 * phrase are run.
 */
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const TEST_FILES = ['packages/*/{src,test}/**/*.test.ts', '{scripts,examples,test}/**/*.test.ts', 'bench/*.test.ts'];
const EXCLUDED = ['**/node_modules/**', '**/dist/**'];

export interface Choice {
  readonly files: readonly string[];
  /** Only tests with this in their title; undefined for all. */
  readonly title?: string;
}

export function chooseTests(words: readonly string[], cwd: string): Choice {
  const all = globSync(TEST_FILES, { cwd, exclude: EXCLUDED }).sort();
  const lower = words.map((word) => word.toLowerCase());
  const byPath = all.filter((file) => lower.every((word) => file.toLowerCase().includes(word)));
  if (byPath.length > 0) return { files: byPath };
  const title = words.join(' ');
  const phrase = title.toLowerCase();
  return { files: all.filter((file) => readFileSync(`${cwd}/${file}`, 'utf8').toLowerCase().includes(phrase)), title };
}

function run(words: readonly string[], isWatching: boolean): number {
  if (words.length === 0) return fail('Usage: npm run t -- <words of a path or of a title> [--watch]');
  const { files, title } = chooseTests(words, process.cwd());
  if (files.length === 0) return fail(`No test file and no title holds: ${words.join(' ')}`);
  const pattern = title === undefined ? [] : [`--test-name-pattern=/${RegExp.escape(title)}/i`];
  const watch = isWatching ? ['--watch'] : [];
  const options = [
    '-C',
    'tool-runtime-source',
    '--import',
    './scripts/pin-seeds.ts',
    '--test',
    '--test-timeout=120000',
  ];
  return spawnSync(process.execPath, [...options, ...watch, ...pattern, ...files], { stdio: 'inherit' }).status ?? 1;
}

function fail(message: string): number {
  console.error(message);
  return 2;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { watch: { type: 'boolean' } } });
  process.exitCode = run(positionals, values.watch === true);
}
