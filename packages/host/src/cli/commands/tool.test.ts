import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { createScratch, jsonLines, runCli, type Scratch, startCli } from '../../../test/run-cli.ts';

const EXAMPLE = join(import.meta.dirname, '../../../../../examples/external-tools/line-count.sh');
const KIT_EXAMPLE = join(import.meta.dirname, '../../../../../examples/external-tools/word-report.ts');

/** A program of this text in the scratch workspace. */
function plant(scratch: Scratch, name: string, text: string): string {
  scratch.write(name, `#!/bin/sh\n${text}\n`);
  const path = join(scratch.workspace, name);
  chmodSync(path, 0o755);
  return path;
}

describe('tool-runtime tool check', () => {
  test('prints a line for every check and a summary, and exits with 0 without failures', async () => {
    const { code, stdout, stderr } = await runCli(['tool', 'check', EXAMPLE]);
    assert.deepEqual([code, stderr], [0, '']);
    const lines = stdout.trim().split('\n');
    const summary = lines.pop();
    assert.equal(summary, `line-count 1.0.0: ${lines.length} passed, 0 warnings, 0 failures`);
    const page = readFileSync(join(import.meta.dirname, '../../../../../docs/external-tools.md'), 'utf8');
    const timeless = (text: string): string => text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'T');
    assert.ok(timeless(page).includes(timeless(stdout)), 'copy the output into docs/external-tools.md');
    assert.deepEqual(
      lines.filter((line) => !line.startsWith('✓ ')),
      [],
    );
  });

  test('shows failures and warnings with what was expected and what to do, and exits with 1', async () => {
    using scratch = createScratch();
    const program = plant(scratch, 'odd', `case \${1-} in --version) echo 1 ;; *) echo hello ;; esac`);
    const { code, stdout } = await runCli(['tool', 'check', program]);
    assert.equal(code, 1);
    assert.match(stdout, /^✗ capabilities\.json .*\n {4}expected: the answer is one JSON object\n {4}next: print one/m);
    assert.match(stdout, /^! run\.stdout +not a progress line: hello\n {4}expected: .*\n {4}next: /m);
    assert.match(stdout, /\nthe program: \d+ passed, \d+ warnings, \d+ failures\n$/);
  });

  test('gives the report as one JSON value, in the epack profile, through an interpreter with options (deep)', async () => {
    const words = ['--interpreter', process.execPath, '--interpreter', '-C', '--interpreter', 'tool-runtime-source'];
    const { code, stdout } = await runCli(['tool', 'check', '--json', '--profile', 'epack', ...words, KIT_EXAMPLE]);
    const [report, ...more] = jsonLines(stdout);
    assert.deepEqual([code, more, report?.['name'], report?.['failed']], [0, [], 'word-report', 0]);
    const checks = report?.['checks'] as Record<string, unknown>[];
    assert.equal(checks.length, report?.['passed']);
    assert.deepEqual(Object.keys(checks[0] ?? {}), ['id', 'group', 'title', 'status', 'message', 'next']);
  });

  test('hands words after the program, inputs, configuration and pack to the runs (deep)', async () => {
    using scratch = createScratch();
    const capabilities = '{"name":"picky","version":"1","protocol_version":1,"requires_pack":true}';
    const program = plant(
      scratch,
      'picky',
      `case $1 in --capabilities) echo '${capabilities}'; exit ;; --version) echo 1; exit ;; esac
[ "$1" = --deep ] && [ "$TOOL_INPUTS" = '{"a":1}' ] && [ "$(cat "$TOOL_CONFIG")" = '{"b":2}' ] && [ "$(cat "$2")" = own ] || { echo no >&2; exit 2; }`,
    );
    scratch.write('own.pack', 'own');
    const pack = join(scratch.workspace, 'own.pack');
    const options = ['--inputs', '{"a":1}', '--config', '{"b":2}', '--pack', pack];
    const given = await runCli(['tool', 'check', ...options, program, '--deep']);
    assert.match(given.stdout, /^✓ run\.ends +exit code 0$/m);
    const without = await runCli(['tool', 'check', program, '--deep']);
    assert.match(without.stdout, /^! run\.ends +exit code 2: no$/m);
  });

  test('makes what a program prints harmless for the terminal', async () => {
    using scratch = createScratch();
    const program = plant(scratch, 'loud', `printf '\\033[2J' >&2; exit 1`);
    const { stdout } = await runCli(['tool', 'check', program]);
    assert.match(stdout, /exit code 1: \\u\{1b\}\[2J/);
    assert.ok(!stdout.includes('\u001b'));
  });

  test('exits with 2 for bad usage and for a program that is not there', async () => {
    for (const [words, message] of [
      [[], /missing required argument 'command'/],
      [['--profile', 'other', EXAMPLE], /Allowed choices are neutral, epack/],
      [['--timeout', 'soon', EXAMPLE], /--timeout takes a whole number/],
      [['--inputs', '[]', EXAMPLE], /--inputs takes a JSON object/],
      [['./no-such-program'], /Program not found: \.\/no-such-program/],
      [['--pack', './no-such-pack', EXAMPLE], /File not found: \.\/no-such-pack/],
    ] as const) {
      const { code, stdout, stderr } = await runCli(['tool', 'check', ...words]);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, message);
    }
  });

  test('stops the program when it is interrupted', async () => {
    using scratch = createScratch();
    const program = plant(scratch, 'slow', `echo started >>"${join(scratch.workspace, 'log')}"; sleep 7301`);
    const child = startCli(['tool', 'check', program]);
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    while (!existsSync(join(scratch.workspace, 'log'))) await pause(20);
    child.kill('SIGINT');
    assert.equal(await ended, 1);
    assert.ok(!spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout.includes('sleep 7301'));
  });
});
