import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { toolResponseSchema } from '@tool-runtime/protocol';
import { createScratch, runCli, type Scratch, startCli } from '../../../test/run-cli.ts';

function run(scratch: Scratch, ...args: string[]) {
  return runCli(['call', ...args, ...scratch.options]);
}

describe('tool-runtime call', () => {
  test('prints the ToolResponse, for people or on one line, and ends with 0 [S0-4] (deep)', async () => {
    using scratch = createScratch();
    scratch.write('a.txt', 'hello');
    for (const [flags, lineCount] of [
      [[], 17],
      [['--json'], 1],
    ] as const) {
      const { code, stdout, stderr } = await run(scratch, 'file_read', 'path=a.txt', ...flags);
      assert.deepEqual([code, stderr], [0, '']);
      const response = toolResponseSchema.parse(JSON.parse(stdout));
      assert.deepEqual([response.ok, response.tool], [true, 'file_read']);
      assert.equal(stdout.trimEnd().split('\n').length === 1, lineCount === 1);
    }
  });

  test('takes the same arguments as JSON, pairs or a file (deep)', async () => {
    using scratch = createScratch();
    const file = join(scratch.root, 'args.json');
    writeFileSync(file, '{"path":"c","content":"123"}');
    const ways = [['{"path":"a","content":"123"}'], ['path=b', 'content=123'], [`@${file}`]];
    for (const words of ways) assert.equal((await run(scratch, 'file_write', ...words)).code, 0);
    assert.deepEqual(
      ['a', 'b', 'c'].map((name) => readFileSync(join(scratch.workspace, name), 'utf8')),
      ['123', '123', '123'],
    );
  });

  test('ends with 1 and an error in the response when the call is not ok [S0-4] (deep)', async () => {
    using scratch = createScratch();
    for (const [words, expected] of [
      [['file_read', 'path=missing'], 'E_FILE_IO'],
      [['file_read', 'path=../outside'], 'E_POLICY'],
      [['file_read', 'wrong=1'], 'E_VALIDATION_FAIL'],
      [['no_such_tool', 'a=1'], 'E_POLICY'],
      [['no_such_tool'], 'E_POLICY'],
    ] as const) {
      const { code, stdout } = await run(scratch, ...words);
      const response = toolResponseSchema.parse(JSON.parse(stdout));
      assert.deepEqual([code, response.ok, response.errors[0]?.code], [1, false, expected]);
    }
  });

  for (const [words, complaint] of [
    [['file_read', '{"path":'], /^error Arguments are not valid JSON/],
    [['file_read', 'path'], /^error Not a JSON object and not key=value: path/],
    [['file_read', '@/no/such/file'], /^error Cannot read the arguments: \/no\/such\/file \(ENOENT\)/],
    [['file_read', 'path=a', '--timeout', '0'], /^error --timeout takes a whole number of at least 1: 0/],
    [['file_read', 'path=a', '--timeout', '1.5'], /^error --timeout takes/],
    [['file_read', 'path=a', '--timeout', 'soon'], /^error --timeout takes/],
    [['file_read', 'path=a', '--key', ''], /^error E_VALIDATION_FAIL/],
    [['file_read', 'path=a', '--registry', '/no/such/file'], /^error E_FILE_IO File not found: \/no\/such\/file/],
  ] as const) {
    test(`ends with 2 and prints no response after: ${words.join(' ')}`, async () => {
      using scratch = createScratch();
      const { code, stdout, stderr } = await run(scratch, ...words);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, complaint);
    });
  }

  test('ends with 2 when the workspace is missing or no folder, with or without a state folder', async () => {
    using scratch = createScratch();
    scratch.write('file', '');
    for (const [workspace, complaint] of [
      [join(scratch.root, 'missing'), /^error Workspace is missing: .*missing\n {2}next: /],
      [join(scratch.workspace, 'file'), /^error Workspace is not a folder: /],
    ] as const) {
      for (const state of [[], ['--state', scratch.state]]) {
        const { code, stdout, stderr } = await runCli([
          'call',
          'file_read',
          'path=a',
          '--workspace',
          workspace,
          ...state,
        ]);
        assert.deepEqual([code, stdout], [2, '']);
        assert.match(stderr, complaint);
      }
    }
  });

  test('ends with 2 and shows the line when the registry is broken [S0-25]', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', 'version: 1\n\nsurprise: 1\n');
    const { code, stdout, stderr } = await run(scratch, 'file_read', 'path=a');
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^error E_VALIDATION_FAIL .*tool-runtime\.yaml:3:1 .*surprise.*\n {2}next: /);
  });

  test('takes a time limit and an idempotency key', async () => {
    using scratch = createScratch();
    scratch.write('a', 'one');
    const { code } = await run(scratch, 'file_read', 'path=a', '--timeout', '5000', '--key', 'k1');
    assert.equal(code, 0);
  });

  test('keeps warnings on stderr, so that stdout stays parsable', async () => {
    using scratch = createScratch();
    scratch.write('a', '');
    scratch.write('tool-runtime.yaml', "version: 1\nshell_allow:\n  - '^ls$'\n");
    const { code, stdout, stderr } = await run(scratch, 'file_read', 'path=a', '--json');
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).ok, true);
    assert.match(stderr, /^warning tool-runtime\.yaml is not trusted: 1 setting is ignored/);
  });

  test('can be interrupted while it waits for its arguments', async () => {
    using scratch = createScratch();
    const child = startCli(['call', 'file_read', '-', ...scratch.options]);
    const closed = once(child, 'close');
    child.stdin.write('{"path":');
    await new Promise((resolve) => setTimeout(resolve, 500));
    child.kill('SIGINT');
    assert.deepEqual(await closed, [null, 'SIGINT']);
  });
});
