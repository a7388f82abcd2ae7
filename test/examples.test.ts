import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createPageFolder } from './pages/run-page.ts';

const folder = new URL('../examples/', import.meta.url);

type ExampleRun = ReturnType<typeof runInFolder>;
const runs = new Map<string, ExampleRun>();

/** Once for all tests of it. */
function runExample(file: string): ExampleRun {
  const known = runs.get(file);
  if (known !== undefined) return known;
  const run = runInFolder(file);
  runs.set(file, run);
  return run;
}

/** As a reader would run it: in a folder and a home of its own, with `tool-runtime` on the path. */
function runInFolder(file: string) {
  using place = createPageFolder();
  const { workspace: cwd, environment: env } = place;
  const words = ['-C', 'tool-runtime-source', new URL(file, folder).pathname];
  return spawnSync(process.execPath, words, { cwd, env, encoding: 'utf8' });
}

describe('examples', () => {
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))) {
    test(`${file} runs and its own assertions hold`, () => {
      const run = runExample(file);
      assert.deepEqual([run.status, run.stderr], [0, '']);
    });
  }

  test('docs/embed.md shows what quick-start.ts prints', () => {
    const run = runExample('quick-start.ts');
    const short = (text: string): string =>
      text.replace(/\b([0-9a-f]{4})[0-9a-f]{56}([0-9a-f]{4})\b/g, '$1…$2').replace(/head [0-9a-f]{16}…/, 'head …');
    const page = readFileSync(new URL('../docs/embed.md', import.meta.url), 'utf8');
    assert.ok(
      short(page).includes(short(run.stdout.trim())),
      'copy the output of examples/quick-start.ts into docs/embed.md',
    );
  });

  test('docs/write-a-rule.md shows the refusal that own-rule.ts prints', () => {
    const [first = ''] = runExample('own-rule.ts').stdout.split('\n');
    const { errors } = JSON.parse(first) as { errors: readonly unknown[] };
    const page = readFileSync(new URL('../docs/write-a-rule.md', import.meta.url), 'utf8');
    assert.ok(page.includes(`\n${JSON.stringify(errors[0])}\n`), 'copy the entry into docs/write-a-rule.md');
  });
});
