import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '@tool-runtime/protocol';
import { openExternalScene, type Scene } from '../../../test/external-scene.ts';
import { findRunLocations, listRuns, type RunSummary, showRun, showRunOutput } from './read-run.ts';

const OUTPUT = `printf 'a\\377b' > a.bin; result '[{"path":"a.bin","media_type":"x/y"}]'`;

let scene: Scene;

before(async () => {
  scene = await openExternalScene({ tools: ['name: plain', 'name: needs-pack'] });
  writeFileSync(join(scene.workspace, 'a.pack'), 'content');
});

after(() => scene.dispose());

async function run(tool: string, args: JsonObject): Promise<RunSummary> {
  await scene.session.call(tool, args);
  const { value } = listRuns(scene.state).next();
  assert.ok(value !== undefined);
  return value;
}

function locate({ tool, run_id }: RunSummary) {
  const [location] = findRunLocations(scene.state, `${tool}/${run_id}`);
  return location ?? assert.fail('not found');
}

async function outputOf(summary: RunSummary, path: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  await showRunOutput(locate(summary), path, (piece) => void pieces.push(Uint8Array.from(piece)));
  return Buffer.concat(pieces);
}

describe('the list of runs', () => {
  test('names every run, newest first, with and without a pack, and is empty where there are none [S4-39]', async () => {
    assert.deepEqual([...listRuns(join(scene.workspace, 'nowhere'))], []);
    const made = [
      await run('plain', { args: [OUTPUT] }),
      await run('needs-pack', { args: ['result'], pack: 'a.pack' }),
      await run('plain', { args: ['exit 3'] }),
      await run('needs-pack', {}),
    ];
    assert.deepEqual(
      made.map(({ tool, status, exit_code, tool_exit_code, outputs = [] }) => [
        tool,
        status,
        exit_code,
        tool_exit_code,
        outputs.length,
      ]),
      [
        ['plain', 'success', 0, 0, 1],
        ['needs-pack', 'success', 0, 0, 0],
        ['plain', 'failure', 3, 3, 0],
        ['needs-pack', 'failure', 16, null, 0],
      ],
    );
    assert.match(made[1]?.run_dir ?? '', /^external\/packs\/[0-9a-f]{16}-a\.pack\/tools\/needs-pack\//);
    assert.deepEqual([...listRuns(scene.state)], made.toReversed());
    assert.deepEqual([...listRuns(scene.state, { tool: 'plain' })], [made[2], made[0]]);
    assert.deepEqual([...listRuns(scene.state, { failed: true })], [made[3], made[2]]);
  });

  test('shows what is damaged or unfinished, and follows no link [S4-39]', async () => {
    const changed = await run('plain', { args: ['result'] });
    writeFileSync(join(scene.state, changed.run_dir, 'result.json'), '{}');
    const linked = await run('plain', { args: ['result'] });
    const folder = join(scene.state, linked.run_dir);
    renameSync(folder, `${folder}.aside`);
    symlinkSync(`${folder}.aside`, folder);
    const begun = join(scene.state, 'external/runs/plain/2999-01-01T00-00-00-000000Z-000000');
    mkdirSync(begun, { mode: 0o700 });
    symlinkSync(scene.workspace, join(scene.state, 'external/packs/linked'));
    mkdirSync(join(scene.workspace, 'tools/plain/2998-01-01T00-00-00-000000Z-000000'), { recursive: true });
    const states = [...listRuns(scene.state)].slice(0, 3).map(({ status, problem }) => [status, problem]);
    assert.deepEqual(states, [
      ['unfinished', undefined],
      ['damaged', 'run folder is a link or no folder'],
      ['damaged', 'result.json: Required field is missing: schema_version'],
    ]);
    rmSync(begun, { recursive: true });
  });
});

describe('one run', () => {
  test('is found by its id, with or without the tool, and not by anything else [S4-15]', async () => {
    const { run_id: id } = await run('plain', { args: [OUTPUT] });
    for (const [name, found] of [
      [id, 1],
      [`plain/${id}`, 1],
      [`other/${id}`, 0],
      ['../plain', 0],
      ['', 0],
    ] as const) {
      assert.equal(findRunLocations(scene.state, name).length, found, name);
    }
  });

  test('is shown as its file says [S4-15]', async () => {
    const summary = await run('plain', { args: [OUTPUT] });
    const text = readFileSync(join(scene.state, summary.run_dir, 'result.json'), 'utf8');
    assert.deepEqual(showRun(locate(summary)), JSON.parse(text));
  });

  test('returns the bytes of an output that is listed and unchanged, and of nothing else [S4-13 S4-21]', async () => {
    const summary = await run('plain', { args: [OUTPUT] });
    const file = join(scene.state, summary.run_dir, 'a.bin');
    assert.deepEqual(await outputOf(summary, 'a.bin'), Buffer.from([0x61, 0xff, 0x62]));
    for (const path of ['result.json', '../a.bin', '/etc/passwd', 'b']) {
      await assert.rejects(outputOf(summary, path), { code: 'E_FILE_IO' }, path);
    }
    writeFileSync(file, 'xyz');
    const pieces: Uint8Array[] = [];
    await assert.rejects(
      showRunOutput(locate(summary), 'a.bin', (piece) => void pieces.push(piece)),
      { code: 'E_POLICY' },
    );
    assert.equal(pieces.length, 0);
    renameSync(file, `${file}.aside`);
    symlinkSync('/etc/passwd', file);
    await assert.rejects(outputOf(summary, 'a.bin'), { code: 'E_VALIDATION_FAIL' });
  });

  test('is not shown when it has no result or an invalid one [S4-20]', async () => {
    const summary = await run('plain', { args: [OUTPUT] });
    writeFileSync(join(scene.state, summary.run_dir, 'result.json'), '{"a":1,"a":2}');
    assert.throws(() => showRun(locate(summary)), { code: 'E_FILE_IO', message: /duplicate|twice|key/i });
    await assert.rejects(outputOf(summary, 'a.bin'), { code: 'E_FILE_IO' });
  });
});
