import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createScratch, runCli } from './run-cli.ts';
import { openProgram, openTerminal, runInTerminal } from './terminal.ts';

describe('call, on a terminal', () => {
  test('prints the content as text, and takes arguments as options', () => {
    using scratch = createScratch();
    scratch.write('a.txt', 'one "quoted"\n\u001b[31mred\u001b[0m\n');
    const { code, screen } = runInTerminal([
      'call',
      'file_read',
      '--path',
      'a.txt',
      '--line-numbers',
      ...scratch.options,
    ]);
    assert.equal(code, 0);
    assert.match(screen, /^a\.txt: 2 lines, 26 bytes, sha256 \w{64}\n1 {2}one "quoted"\n2 {2}\\u\{1b\}\[31mred/m);
  });

  test('prints an error as message and next step, in colour unless NO_COLOR is set', () => {
    using scratch = createScratch();
    const args = ['call', 'file_read', 'path=../x', ...scratch.options];
    const coloured = runInTerminal(args);
    assert.equal(coloured.code, 1);
    assert.match(coloured.screen, /\u001b\[31merror\u001b\[39m E_POLICY: .*\n(?:.*\n)*next: /);
    assert.match(runInTerminal(args, { NO_COLOR: '1' }).screen, /^error E_POLICY: /m);
  });

  test('prints JSON with --json', () => {
    using scratch = createScratch();
    scratch.write('a.txt', 'one');
    const { screen } = runInTerminal(['call', 'file_read', 'path=a.txt', '--json', ...scratch.options]);
    assert.equal(JSON.parse(screen).data.content, 'one');
  });
});

describe('progress and completion, on a terminal', () => {
  test('a call that takes long says so on a line that is gone at the end (deep)', async () => {
    using scratch = createScratch();
    const registry = join(scratch.root, 'registry.yaml');
    writeFileSync(registry, 'version: 1\nshell: { mode: sandboxed }\n');
    const cmd = 'cmd=until test -e go; do sleep 0.1; done; echo over';
    using terminal = openTerminal(['call', 'shell_exec', cmd, '--registry', registry, ...scratch.options]);
    await terminal.shows(/working, \d+ s|\d+% /);
    scratch.write('go', '');
    await terminal.shows(/\bover\b/);
    assert.equal(await terminal.ended(), 0);
  });

  test('checking a journal says what it does, on a terminal only (deep)', async () => {
    using scratch = createScratch();
    await runCli(['call', 'fs_list', ...scratch.options]);
    const { code, screen } = runInTerminal(['audit', 'verify', ...scratch.options]);
    assert.equal(code, 0);
    assert.match(screen, /checking every record\r\u001b\[K.*ok/s);
    const piped = await runCli(['audit', 'verify', ...scratch.options]);
    assert.deepEqual([piped.code, piped.stderr], [0, '']);
  });

  test('the Tab key completes commands, tools and their arguments in bash (deep)', async () => {
    using scratch = createScratch();
    const { stdout } = await runCli(['completion', 'bash']);
    const file = join(scratch.root, 'completion.bash');
    writeFileSync(file, `${stdout}\nPS1='ready '\n`);
    using terminal = openProgram(['bash', '--noprofile', '--rcfile', file, '-i']);
    await terminal.shows(/ready /);
    terminal.press('tool-runtime expl\t');
    await terminal.shows(/tool-runtime explain /);
    terminal.press('\u0015tool-runtime call file_re\t');
    await terminal.shows(/call file_read /);
    terminal.press('--max-b\t');
    await terminal.shows(/file_read --max-bytes /);
    terminal.press('\u0015exit\r');
    assert.equal(await terminal.ended(), 0);
  });
});
