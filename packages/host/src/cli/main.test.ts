import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { Command } from 'commander';
import { createScratch, runCli } from '../../test/run-cli.ts';
import * as catalog from './catalog.ts';
import type { CliCommand } from './command.ts';
import { addCommand, HELP, loadCommands } from './main.ts';

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

/** As a shell splits them: single quotes only. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** Everything but the action itself. Rejects for what the command does not take. */
async function parse(command: CliCommand, words: readonly string[]): Promise<void> {
  const program = new Command('tool-runtime').enablePositionalOptions();
  addCommand(program, command, () => {});
  const disarm = (one: Command): void => {
    one.exitOverride().action(() => {});
    one.commands.forEach(disarm);
  };
  program.commands.forEach(disarm);
  await program.parseAsync(words, { from: 'user' });
}

describe('tool-runtime', () => {
  test('lists every command in its help', async () => {
    const { code, stdout, stderr } = await runCli(['--help']);
    assert.deepEqual([code, stderr], [0, '']);
    const commands = await loadCommands();
    assert.deepEqual(
      commands.map(({ name }) => name),
      Object.keys(catalog),
    );
    const older = ['lock', 'run', 'runs', 'tool'];
    for (const { name, summary } of commands) {
      assert.equal(new RegExp(`^  ${name}\\b`, 'm').test(stdout), !older.includes(name), name);
      assert.ok(summary.length > 10);
    }
    const groups = Object.keys(HELP).map((group) => stdout.indexOf(`\n${group}\n`));
    assert.ok(groups.every((at) => at > 0));
  });

  for (const [name, examples] of Object.values(HELP).flatMap((group) => Object.entries(group))) {
    test(`${name} has examples that it can read`, async () => {
      const [command] = await loadCommands(name);
      assert.ok(command !== undefined && examples.length > 0);
      for (const example of examples) await parse(command, wordsOf(example));
      assert.match((await runCli([name, '--help'])).stdout, new RegExp(`Examples:\\n {2}tool-runtime ${name}`));
    });
  }

  test('prints its version', async () => {
    assert.deepEqual(await runCli(['--version']), { code: 0, stdout: `${version}\n`, stderr: '' });
  });

  for (const [args, complaint] of [
    [['frobnicate'], /unknown command 'frobnicate'/],
    [['cal'], /Did you mean call\?/],
    [['call'], /missing required argument 'tool'/],
    [['call', 'file_read', '--nope'], /Argument has no value: --nope/],
    [['explain'], /missing required argument 'name'/],
    [['audit', 'frobnicate'], /unknown command 'frobnicate'/],
    [['audit', 'list', 'extra'], /too many arguments/],
    [['--nope'], /unknown option '--nope'/],
  ] as const) {
    test(`ends with 2 and a reason on stderr after: ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await runCli(args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, complaint);
    });
  }

  test('shows usage on stderr and ends with 2 when no command is named', async () => {
    for (const args of [[], ['audit']]) {
      const { code, stdout, stderr } = await runCli(args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, /^Usage: tool-runtime/);
    }
  });

  test('ends with 1 when the runtime itself fails, and says what helps', async () => {
    using scratch = createScratch();
    const state = join(scratch.root, 'file');
    writeFileSync(state, '');
    const { code, stdout, stderr } = await runCli(['tools', '--workspace', scratch.workspace, '--state', state]);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, /^error E_INTERNAL .*\n {2}next: /);
  });

  test('colours nothing unless it writes to a terminal, or is told to (deep)', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', 'version: 1\nside_effect_level: network\n');
    const plain = await runCli(['tools', ...scratch.options]);
    assert.doesNotMatch(plain.stdout + plain.stderr, /\u001b/);
    const forced = await runCli(['tools', ...scratch.options], { env: { FORCE_COLOR: '1' } });
    assert.match(forced.stdout, /\u001b\[1m/);
    assert.match(forced.stderr, /\u001b\[33mwarning/);
    const refused = await runCli(['tools', ...scratch.options], { env: { NO_COLOR: '1' } });
    assert.doesNotMatch(refused.stdout + refused.stderr, /\u001b/);
  });
});
