import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';

describe('tool-runtime demo', () => {
  test('makes a committed repository with a trusted registry, in which its own suggestions work', async () => {
    using scratch = createScratch();
    const folder = join(scratch.workspace, 'try');
    const env = { XDG_STATE_HOME: scratch.state };
    const made = await runCli(['demo', folder], { env });
    assert.deepEqual([made.code, made.stderr], [0, '']);
    assert.match(made.stdout, /^made .*\/try: sources, tests/);
    const git = (...words: string[]) => execFileSync('git', words, { cwd: folder, encoding: 'utf8' });
    assert.equal(git('status', '--porcelain'), '');
    assert.equal(git('log', '--format=%s'), 'feat: begin\n');

    const call = async (...words: string[]) => {
      const { code, stdout, stderr } = await runCli(['call', ...words, '--workspace', folder], { env });
      assert.equal(stderr, '', words.join(' '));
      return { code, answer: JSON.parse(stdout) };
    };
    const read = await call('file_read', 'path=src/parser.js');
    assert.match(read.answer.data.content, /export function parseConfig/);
    const tests = await call('shell_exec', 'cmd=npm test');
    assert.deepEqual([tests.code, tests.answer.data.code], [0, 0]);
    assert.match(tests.answer.data.stdout, /pass 2/);
    const outside = await call('file_read', 'path=../secret.txt');
    assert.deepEqual([outside.code, outside.answer.errors[0].code], [1, 'E_POLICY']);
    const written = await call('file_write', 'path=elsewhere.txt', 'content=x');
    assert.match(written.answer.errors[0].message, /Argument is not allowed by policy/);
  });

  test('makes tool-runtime-demo below the workspace by default, and leaves a folder with files alone', async () => {
    using scratch = createScratch();
    const first = await runCli(['demo', '--json', ...scratch.options]);
    assert.equal(first.code, 0, first.stderr);
    const { workspace, files } = JSON.parse(first.stdout);
    assert.equal(workspace, join(scratch.workspace, 'tool-runtime-demo'));
    assert.ok(files.includes('tool-runtime.yaml'));
    const before = readFileSync(join(workspace, 'src/main.js'), 'utf8');
    const second = await runCli(['demo', ...scratch.options]);
    assert.equal(second.code, 2);
    assert.match(second.stderr, /Folder is not empty: .*tool-runtime-demo/);
    assert.equal(readFileSync(join(workspace, 'src/main.js'), 'utf8'), before);
    assert.deepEqual(readdirSync(scratch.workspace), ['tool-runtime-demo']);
  });

  test('says what is missing on a machine without git', async () => {
    using scratch = createScratch();
    const run = await runCli(['demo', ...scratch.options], { env: { PATH: scratch.root } });
    assert.equal(run.code, 2);
    assert.match(run.stderr, /git is not installed\n {2}next: install git/);
  });
});
