import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createScratch, runCli } from '../../../test/run-cli.ts';

const WIDENING = "version: 1\nshell_allow:\n  - '^npm test$'\nside_effect_level: network\n";

describe('tool-runtime trust', () => {
  test('grants what the registry asks for until the registry is edited [S0-23] (deep)', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', WIDENING);
    const warnings = async () => (await runCli(['tools', ...scratch.options])).stderr;

    const before = await warnings();
    assert.equal(
      before,
      'warning tool-runtime.yaml is not trusted: 2 settings are ignored (read it, then run: tool-runtime trust)\n',
    );

    const { code, stdout } = await runCli(['trust', ...scratch.options]);
    const sha256 = createHash('sha256').update(WIDENING).digest('hex');
    assert.deepEqual([code, stdout], [0, `trusted sha256 ${sha256} tool-runtime.yaml\n`]);
    assert.equal(await warnings(), '');

    scratch.write('tool-runtime.yaml', `${WIDENING}# edited\n`);
    assert.equal(await warnings(), before);
  });

  test('covers the lock beside the registry, wherever in the workspace that is [S4-46] (deep)', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', WIDENING);
    scratch.write('tool-runtime.lock', '{}');
    const both = await runCli(['trust', ...scratch.options]);
    assert.match(both.stdout, /^trusted sha256 \w{64} tool-runtime\.yaml\ntrusted sha256 \w{64} tool-runtime\.lock\n$/);
    mkdirSync(join(scratch.workspace, 'ops'));
    scratch.write('ops/tool-runtime.lock', '{} ');
    const registry = join(scratch.workspace, 'ops', 'own.yaml');
    const beside = await runCli(['trust', '--json', '--registry', registry, ...scratch.options]);
    assert.deepEqual(
      JSON.parse(beside.stdout).files.map(({ file }: { file: string }) => file),
      ['tool-runtime.yaml', 'tool-runtime.lock', 'ops/tool-runtime.lock'],
    );
    const outside = await runCli(['trust', '--json', '--registry', join(scratch.root, 'own.yaml'), ...scratch.options]);
    assert.equal(JSON.parse(outside.stdout).files.length, 2);
  });

  test('holds for one content, and each decision shows the difference to the last one (deep)', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', WIDENING);
    const first = await runCli(['trust', ...scratch.options]);
    assert.match(first.stderr, /^tool-runtime\.yaml: 4 lines, \d+ bytes; no content of it was trusted before$/m);
    assert.match(first.stderr, /^\+side_effect_level: network$/m);
    scratch.write('tool-runtime.yaml', WIDENING.replace('network', 'process_exec'));
    const second = await runCli(['trust', ...scratch.options]);
    assert.match(second.stderr, /compared with the content that was trusted last \(sha256 \w{12}…\)$/m);
    assert.match(second.stderr, /^-side_effect_level: network\n\+side_effect_level: process_exec$/m);
    const same = await runCli(['trust', ...scratch.options]);
    assert.match(same.stderr, /; the same content as was trusted last\n$/);
    // The first content comes back, as by a checkout of an old commit.
    scratch.write('tool-runtime.yaml', WIDENING);
    assert.match((await runCli(['tools', ...scratch.options])).stderr, /not trusted.*tool-runtime trust/);
    const again = JSON.parse((await runCli(['trust', '--json', ...scratch.options])).stdout);
    assert.match(again.files[0].diff, /^\+side_effect_level: network$/m);
    assert.equal((await runCli(['tools', ...scratch.options])).stderr, '');
  });

  test('is told in JSON when asked', async () => {
    using scratch = createScratch();
    scratch.write('tool-runtime.yaml', WIDENING);
    const { stdout } = await runCli(['trust', '--json', ...scratch.options]);
    assert.match(JSON.parse(stdout).trusted, /^[0-9a-f]{64}$/);
  });

  test('ends with 2 when there is nothing to trust', async () => {
    using scratch = createScratch();
    const { code, stderr } = await runCli(['trust', ...scratch.options]);
    assert.equal(code, 2);
    assert.match(stderr, /^error E_FILE_IO Workspace has no registry: tool-runtime\.yaml/);
    const missing = await runCli(['trust', '--workspace', `${scratch.root}/missing`, '--state', scratch.state]);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /^error Workspace is missing/);
  });
});
