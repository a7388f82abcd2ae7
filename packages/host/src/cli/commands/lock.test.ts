import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';
import { createToolScratch } from '../../../test/tool-scratch.ts';

const digestOf = (path: string): string => `sha256:${createHash('sha256').update(readFileSync(path)).digest('hex')}`;

describe('tool-runtime lock', () => {
  test('pins tools, says what is new, unchanged or changed, and where the lock is [S4-46] (deep)', async () => {
    using scratch = createToolScratch();
    const first = await scratch.cli(['lock', 'work']);
    const before = digestOf(scratch.program);
    assert.deepEqual(first, {
      code: 0,
      stdout: `work  linux/${arch()}  ${before}  new\nlock: ${scratch.lockPath}\n`,
      stderr: '',
    });
    const text = readFileSync(scratch.lockPath, 'utf8');
    assert.match((await scratch.cli(['lock', 'work'])).stdout, /^work {2}.* {2}unchanged$/m);
    assert.equal(readFileSync(scratch.lockPath, 'utf8'), text);

    appendFileSync(scratch.program, '# newer\n');
    const { stdout } = await scratch.cli(['lock', 'work', 'typed']);
    assert.match(stdout, new RegExp(`^work {2}.*${digestOf(scratch.program)} {2}changed from ${before}$`, 'm'));
    assert.match(stdout, /^typed {2}.* {2}new$/m);
  });

  test('writes down what the operator knows about one tool [S4-46] (deep)', async () => {
    using scratch = createToolScratch();
    const metadata = {
      '--source': 'acme/work@v1',
      '--commit': 'c0ffee',
      '--url': 'https://acme.test/work',
      '--signer-issuer': 'https://issuer.test',
      '--signer-subject': 'builder',
      '--signer-repository': 'https://github.com/acme/work',
      '--signer-ref': 'refs/tags/v1',
      '--resolved-registry': 'https://tools.test',
      '--resolved-descriptor': 'sha256:1',
    };
    const words = Object.entries(metadata).flat();
    const locked = await scratch.cli(['lock', 'work', ...words, '--json']);
    assert.equal(locked.code, 0, locked.stderr);
    const { tools } = JSON.parse(readFileSync(scratch.lockPath, 'utf8'));
    const { version, locked_at: _, platforms, ...described } = tools.work;
    assert.equal(version, '1.0');
    assert.equal(Object.values(platforms as Record<string, { url: string }>)[0]?.url, 'https://acme.test/work');
    assert.deepEqual(described, {
      source: 'acme/work@v1',
      commit: 'c0ffee',
      signer: {
        issuer: 'https://issuer.test',
        subject: 'builder',
        source_repository_uri: 'https://github.com/acme/work',
        source_repository_ref: 'refs/tags/v1',
      },
      resolved_from: { registry: 'https://tools.test', descriptor: 'sha256:1' },
    });
    assert.match((await scratch.cli(['lock', 'work'])).stdout, /unchanged$/m);
    assert.match((await scratch.cli(['lock', 'work', '--commit', 'beef'])).stdout, /changed \(commit\)$/m);
    for (const names of [[], ['work', 'typed']]) {
      const { code, stderr } = await scratch.cli(['lock', ...names, '--commit', 'c']);
      assert.equal(code, 2);
      assert.match(stderr, /belong to one tool/);
    }
  });

  test('only looks with --check: exit 1 for what differs or is missing, 0 when all is as locked [S4-46] (deep)', async () => {
    using scratch = createToolScratch();
    const missing = await scratch.cli(['lock', '--check', 'work']);
    assert.deepEqual([missing.code, existsSync(scratch.lockPath)], [1, false]);
    await scratch.cli(['lock', 'work']);
    const text = readFileSync(scratch.lockPath, 'utf8');
    const same = await scratch.cli(['lock', '--check', 'work']);
    assert.deepEqual([same.code, same.stderr], [0, '']);
    const other = await scratch.cli(['lock', '--check', 'gone', '--json']);
    assert.equal(other.code, 1);
    assert.equal(JSON.parse(other.stdout).tools[0].change, 'not_found');
    appendFileSync(scratch.program, '# newer\n');
    const changed = await scratch.cli(['lock', '--check', 'work', '--json']);
    assert.equal(changed.code, 1);
    const { tools, lock, is_trusted: isTrusted } = JSON.parse(changed.stdout);
    assert.deepEqual(
      [tools[0].change, tools[0].fields, lock, isTrusted],
      ['changed', ['digest'], scratch.lockPath, true],
    );
    assert.equal(readFileSync(scratch.lockPath, 'utf8'), text);
  });

  test('writes nothing when a program is missing or a tool is not listed [S4-46] (deep)', async () => {
    using scratch = createToolScratch();
    for (const [names, complaint] of [
      [[], /^error E_SHELL Program of the external tool not found: gone/],
      [['nobody'], /^error E_VALIDATION_FAIL External tool is not in the registry: nobody/],
    ] as const) {
      const { code, stdout, stderr } = await scratch.cli(['lock', ...names]);
      assert.deepEqual([code, stdout, existsSync(scratch.lockPath)], [2, '', false]);
      assert.match(stderr, complaint);
    }
  });

  test('does not add to a lock of the workspace that is not trusted, and does after trust [S4-46] (deep)', async () => {
    using scratch = createScratch();
    scratch.write('tool.sh', '#!/bin/sh\n');
    scratch.write('tool-runtime.yaml', 'version: 1\nexternal_tools: [{name: a, command: tool.sh}]\n');
    await runCli(['trust', ...scratch.options]);
    const lock = `${scratch.workspace}/tool-runtime.lock`;
    writeFileSync(lock, '{"schema_version":1,"tools":{}}');
    const refused = await runCli(['lock', ...scratch.options]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /^error E_POLICY Lock of the workspace is not trusted.*\n {2}next: .*trust/);
    const looked = await runCli(['lock', '--check', ...scratch.options]);
    assert.match(looked.stderr, /not trusted/);
    await runCli(['trust', ...scratch.options]);
    assert.match((await runCli(['lock', ...scratch.options])).stdout, /^a {2}.* {2}new$/m);
  });

  test('says so when there is nothing to lock', async () => {
    using scratch = createScratch();
    const { code, stdout } = await runCli(['lock', ...scratch.options]);
    assert.deepEqual([code, stdout], [0, 'the registry lists no external tools\n']);
    assert.equal(existsSync(`${scratch.workspace}/tool-runtime.lock`), false);
  });
});

function arch(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch;
}
