import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createScratch } from './run-cli.ts';
import { runInTerminal } from './terminal.ts';

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
