import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { toolResponseSchema } from '@tool-runtime/protocol';
import { runCli, startCli } from '../../../test/run-cli.ts';
import { createToolScratch, readResult, type ToolScratch, WITH_OUTPUT } from '../../../test/tool-scratch.ts';

const RUN_LINE = /^run \d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{6}Z-\d{6} {2}/m;

let scratch: ToolScratch;

before(async () => {
  scratch = createToolScratch();
  for (const tool of ['work', 'packed', 'typed']) {
    const { code, stderr } = await scratch.cli(['lock', tool]);
    assert.equal(code, 0, stderr);
  }
  scratch.write('a.pack', 'content');
});

after(() => scratch[Symbol.dispose]());

const run = (...words: string[]) => scratch.cli(['run', ...words]);

function lastResult(tool: string): Record<string, unknown> {
  return readResult(scratch.runFolders(tool).at(-1) ?? assert.fail('no run'));
}

describe('tool-runtime run', () => {
  test('shows what the tool printed on the same streams, then the run in one line [S4-50]', async () => {
    const { code, stdout, stderr } = await run('work', `echo out; echo err >&2; ${WITH_OUTPUT}`);
    assert.deepEqual([code, stdout], [0, 'out\n']);
    assert.match(stderr, /^err\nrun \S+ {2}success {2}exit 0 {2}a\.txt \(4 bytes\)\n$/);
  });

  test('prints the whole answer on one line with --json [S4-50] (deep)', async () => {
    const { code, stdout, stderr } = await run('work', `echo out; ${WITH_OUTPUT}`, '--json');
    assert.equal(code, 0);
    const response = toolResponseSchema.parse(JSON.parse(stdout));
    assert.equal((response.data as { stdout: string }).stdout, 'out\n');
    assert.match(stderr, RUN_LINE);
    assert.equal(stdout.trimEnd().includes('\n'), false);
  });

  test('takes words with dashes behind --, inputs, and a pack with its digest (deep)', async () => {
    const dashed = await run('work', '--', 'shift; echo "$@"; result', '--x', '-y');
    assert.equal(dashed.stdout, '--x -y\n');
    const typed = await run('typed', 'echo "$TOOL_INPUTS"; result', '--inputs', '{"top":3}');
    assert.equal(typed.stdout, '{"top":3}\n');
    const stdin = await scratch.cli(['run', 'typed', 'echo "$TOOL_INPUTS"; result', '--inputs', '-'], {
      input: '{"top":4}',
    });
    assert.equal(stdin.stdout, '{"top":4}\n');
    const packed = await run('packed', 'cat "$TOOL_PACK_PATH"; result', '--pack', 'a.pack');
    assert.deepEqual([packed.code, packed.stdout], [0, 'content']);
  });

  for (const [work, code, toolCode] of [
    ['exit 3', 3, 3],
    ['exit 9', 9, 9],
    ['exit 10', 1, 10],
    ['exit 200', 1, 200],
    ['kill -9 $$', 1, 137],
  ] as const) {
    test(`ends with ${code} after: ${work} [S4-3 S4-43]`, async () => {
      const ended = await run('work', work);
      assert.equal(ended.code, code, ended.stderr);
      assert.deepEqual([lastResult('work')['exit_code'], lastResult('work')['tool_exit_code']], [code, toolCode]);
      assert.match(ended.stderr, new RegExp(`  failure  exit ${code}  `));
    });
  }

  test('ends with 1 when the tool reports errors and exits with 0 [S4-2] (deep)', async () => {
    const { code } = await run(
      'work',
      'result; sed -i s/\'"errors":\\[\\]\'/\'"errors":[{"code":"X","message":"m"}]\'/ "$TOOL_RUN_DIR/result.json"',
    );
    assert.deepEqual([code, lastResult('work')['status'], lastResult('work')['exit_code']], [1, 'failure', 0]);
  });

  for (const [subject, words, code, tool] of [
    ['a tool that is not listed', ['nobody'], 10, 'nobody'],
    ['a pack with another digest', ['packed', '--pack', 'a.pack', '--pack-digest', `sha256:${'0'.repeat(64)}`], 12, ''],
    ['a tool that is not in the lock', ['gone'], 13, 'gone'],
    ['arguments the tool does not take', ['work', '--inputs', '{"a":1}'], 14, 'work'],
    ['a tool without its pack', ['packed'], 16, 'packed'],
  ] as const) {
    test(`ends with ${code} for ${subject}, which is on record [S4-39 S4-43] (deep)`, async () => {
      const ended = await run(...words);
      assert.deepEqual([ended.code, ended.stdout], [code, ''], ended.stderr);
      assert.match(ended.stderr, /^error E_/m);
      assert.match(ended.stderr, RUN_LINE);
      if (tool === '') return;
      const result = lastResult(tool);
      assert.deepEqual([result['exit_code'], result['tool_exit_code'], result['status']], [code, null, 'failure']);
      assert.ok(ended.stderr.includes(String(result['run_id'])));
    });
  }

  test('ends with 11 for a program that is not what was locked, and runs again when it is [S4-43] (deep)', async () => {
    const own = createToolScratch();
    try {
      await own.cli(['lock', 'work']);
      appendFileSync(own.program, '# changed\n');
      const refused = await own.cli(['run', 'work', 'result']);
      assert.deepEqual([refused.code, refused.stdout], [11, '']);
      await own.cli(['lock', 'work']);
      assert.equal((await own.cli(['run', 'work', 'result'])).code, 0);
    } finally {
      own[Symbol.dispose]();
    }
  });

  test('ends with 2 for a command that cannot be understood, without a run (deep)', async () => {
    const runsBefore = readdirSync(join(scratch.state, 'external/runs'));
    for (const [words, complaint] of [
      [[], /missing required argument 'tool'/],
      [['../work'], /Name of an external tool is not valid/],
      [['file_read'], /Not an external tool: file_read\n {2}next: .*tool-runtime call file_read/],
      [['work', '--inputs', '{'], /not valid JSON.*\n {2}next: for example: --inputs/],
      [['work', '--inputs', 'a=1'], /--inputs takes a JSON object/],
      [['work', '--inputs', '[1]'], /not a JSON object/],
      [['work', '--timeout', '0'], /--timeout takes/],
      [['work', '--surprise'], /unknown option/],
    ] as const) {
      const { code, stdout, stderr } = await run(...words);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, complaint);
    }
    assert.deepEqual(readdirSync(join(scratch.state, 'external/runs')), runsBefore);
  });

  test('ends the tool at the time limit it was given [S4-47] (deep)', async () => {
    // Starting a tool counts too, and takes longer on a busy machine: the limit grows until the tool has begun.
    const limited = (timeout: number) => run('work', 'echo > begun; sleep 1000', '--timeout', String(timeout));
    const hasBegun = () => existsSync(join(scratch.runFolders('work').at(-1) ?? '', 'begun'));
    let ended = await limited(300);
    for (let timeout = 600; !hasBegun(); timeout *= 2) ended = await limited(timeout);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /^error E_TIMEOUT/m);
    assert.match(JSON.stringify(lastResult('work')['errors']), /COMPONENT_KILLED/);
  });

  test('ends the tool when it is interrupted, and that is on record [S4-47] (deep)', async () => {
    const count = scratch.runFolders('work').length;
    const child = startCli(['run', 'work', 'echo $$ > pid; sleep 100', ...scratch.options]);
    const closed = once(child, 'close');
    const begun = () =>
      scratch
        .runFolders('work')
        .slice(count)
        .some((folder) => existsSync(join(folder, 'pid')));
    while (!begun()) await new Promise((resolve) => setTimeout(resolve, 50));
    child.kill('SIGINT');
    assert.deepEqual(await closed, [1, null]);
    assert.match(JSON.stringify(lastResult('work')['errors']), /COMPONENT_KILLED/);
  });

  test('ends with 14 when the ceiling refuses it [S4-43] (deep)', async () => {
    const registry = join(scratch.root, 'operator', 'low.yaml');
    writeFileSync(
      registry,
      'version: 1\nside_effect_level: read_only\nexternal_tools: [{name: work, command: tool.sh}]\n',
    );
    const words = ['--workspace', scratch.workspace, '--state', scratch.state, '--registry', registry];
    const { code, stderr } = await runCli(['run', 'work', 'result', ...words]);
    assert.equal(code, 14, stderr);
  });
});
