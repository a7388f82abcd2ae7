import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createScratch, runCli, type Scratch } from '../../../test/run-cli.ts';

function policy(scratch: Scratch, ...args: string[]) {
  return runCli(['policy', ...args, ...scratch.options]);
}

function registry({ root }: Scratch, text: string, name = 'r.yaml'): string {
  const file = join(root, name);
  writeFileSync(file, text);
  return file;
}

describe('tool-runtime policy explain', () => {
  test('answers in JSON with the decision first, and takes pairs and JSON alike (deep)', async () => {
    using scratch = createScratch();
    const file = registry(
      scratch,
      "version: 1\narg_constraints:\n  - { tool: file_write, arg_patterns: ['docs/**'] }\n",
    );
    const pairs = await policy(scratch, 'explain', 'file_write', 'path=a', 'content=x', '--registry', file, '--json');
    assert.deepEqual([pairs.code, pairs.stderr], [0, '']);
    assert.match(pairs.stdout, /^\{"decision":"deny","code":"arg_constraint",/);
    const { gates, change } = JSON.parse(pairs.stdout);
    const refusing = gates.find(({ answer }: { answer: string }) => answer === 'deny');
    assert.deepEqual([refusing.gate, refusing.registry], ['arguments', `${file}:2`]);
    assert.equal(change.edits[0].value, 'a');
    const json = await policy(
      scratch,
      'explain',
      'file_write',
      '{"path":"a","content":"x"}',
      '--registry',
      file,
      '--json',
    );
    assert.equal(json.stdout, pairs.stdout);
  });

  test('shows people one line for each gate and the change', async () => {
    using scratch = createScratch();
    const { code, stdout } = await policy(scratch, 'explain', 'curl', 'url=https://example.org/');
    assert.equal(code, 0);
    assert.match(stdout, /^deny curl \(side_effect_ceiling\)\n {2}route +deny /);
    assert.match(stdout, /\nto allow it: add "example.org" to network.allowed_domains\n$/);
  });

  test('ends with 2 for arguments that cannot be read', async () => {
    using scratch = createScratch();
    assert.equal((await policy(scratch, 'explain', 'file_read', 'path')).code, 2);
  });
});

const CHECKED = `version: 1
arg_constraints:
  - tool: file_write
    arg_patterns: ['docs/**']
    deny: [{ tool: file_write, args: { path: src/a, content: '' } }]
`;

describe('tool-runtime policy check', () => {
  test('ends with 0 when all examples hold and with 1 when one does not, with its line (deep)', async () => {
    using scratch = createScratch();
    const good = registry(scratch, CHECKED);
    const passed = await policy(scratch, 'check', '--registry', good, '--json');
    assert.deepEqual([passed.code, JSON.parse(passed.stdout).ok], [0, true]);
    const bad = registry(scratch, CHECKED.replace("'docs/**'", "'**'"), 'bad.yaml');
    const failed = await policy(scratch, 'check', '--registry', bad);
    assert.equal(failed.code, 1);
    assert.match(
      failed.stdout,
      /^failed .*bad\.yaml:5 Example does not hold: file_write .* is allowed, must be denied/,
    );
    const json = await policy(scratch, 'check', '--registry', bad, '--json');
    assert.deepEqual([json.code, JSON.parse(json.stdout).failed], [1, 1]);
    const loaded = await runCli(['call', 'file_read', 'path=a', ...scratch.options, '--registry', bad]);
    assert.notEqual(loaded.code, 0);
    assert.match(loaded.stderr, /bad\.yaml:5:\d+ Example does not hold/);
  });
});

describe('tool-runtime policy simulate, suggest and diff', () => {
  test('say what changes by exit code and JSON, and suggest a registry that changes nothing (deep)', async () => {
    using scratch = createScratch();
    scratch.write('a', 'text');
    for (const args of [
      ['file_read', 'path=a'],
      ['file_write', 'path=b', 'content=x'],
    ]) {
      assert.equal((await runCli(['call', ...args, ...scratch.options])).code, 0);
    }
    const other = registry(scratch, CHECKED);
    const simulated = await policy(scratch, 'simulate', '--with', other, '--since', '1h', '--json');
    assert.equal(simulated.code, 1);
    assert.match(simulated.stdout, /^\{"changed":1,"calls":2,"judged":2,/);
    const shown = await policy(scratch, 'simulate', '--with', other);
    assert.match(shown.stdout, /^ {5}1 {2}allow → deny {2}file_write\n.*r\.yaml:2\)\n1 of 2 judged calls change/);
    const { stdout } = await policy(scratch, 'suggest', '--from', 'journal');
    const suggested = registry(scratch, stdout, 'suggested.yaml');
    assert.equal((await policy(scratch, 'simulate', '--with', suggested)).code, 0);
    const differing = await policy(scratch, 'diff', other, suggested, '--json');
    assert.equal(differing.code, 1);
    assert.ok(JSON.parse(differing.stdout).changed > 0);
    assert.equal((await policy(scratch, 'diff', other, other)).code, 0);
  });

  test('end with 2 for a missing file and an unreadable time', async () => {
    using scratch = createScratch();
    assert.equal((await policy(scratch, 'simulate', '--with', '/nowhere.yaml')).code, 2);
    assert.equal((await policy(scratch, 'suggest', '--since', 'yesterday')).code, 2);
    assert.equal((await policy(scratch, 'simulate')).code, 2);
  });
});
