import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';

const PACKAGE = JSON.stringify({ name: 'x', scripts: { build: 'tsc -b', test: 'node --test', lint: 'biome lint .' } });

describe('tool-runtime init', () => {
  test('writes a registry that loads, with the commands of the project and a schema for editors (deep)', async () => {
    using scratch = createScratch();
    execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: scratch.workspace });
    scratch.write('package.json', PACKAGE);
    scratch.write('package-lock.json', '{}');
    const { code, stdout } = await runCli(['init', ...scratch.options]);
    assert.equal(code, 0);
    assert.match(stdout, /^wrote tool-runtime\.yaml$/m);
    const text = readFileSync(join(scratch.workspace, 'tool-runtime.yaml'), 'utf8');
    assert.match(text, /^# yaml-language-server: \$schema=\.\/tool-runtime\.schema\.json/);
    assert.match(text, /build: ['"]?npm run build/);
    const schema = JSON.parse(readFileSync(join(scratch.workspace, 'tool-runtime.schema.json'), 'utf8'));
    assert.ok('validators' in schema.properties);
    assert.equal((await runCli(['trust', ...scratch.options])).code, 0);
    const tools = await runCli(['tools', ...scratch.options]);
    assert.deepEqual([tools.code, tools.stderr], [0, '']);
  });

  test('never overwrites: neither by init nor in a dry run, which only prints', async () => {
    using scratch = createScratch();
    scratch.write('package.json', PACKAGE);
    const dry = await runCli(['init', '--dry-run', ...scratch.options]);
    assert.equal(dry.code, 0);
    assert.match(dry.stdout, /^version: 1$/m);
    assert.ok(!existsSync(join(scratch.workspace, 'tool-runtime.yaml')));
    scratch.write('tool-runtime.yaml', 'version: 1\n');
    const refused = await runCli(['init', ...scratch.options]);
    assert.equal(refused.code, 2);
    assert.equal(readFileSync(join(scratch.workspace, 'tool-runtime.yaml'), 'utf8'), 'version: 1\n');
  });
});
