import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { createRunFolder, latestRunFolder, listRuns, openRunFolder, removeRun, runIdsOf } from './run-folder.ts';

const runId = (day: number, count = 0) => `2026-01-0${day}T00-00-00-000000Z-${String(count).padStart(6, '0')}`;

function scratch(t: TestContext): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'runs-')));
  t.after(() => rmSync(base, { recursive: true, force: true }));
  return base;
}

const listed = (...ids: readonly string[]) => {
  const pending = [...ids];
  return { next: () => pending.shift() ?? assert.fail('asked for one id too many') };
};
const mode = (path: string) => statSync(path).mode & 0o777;
const refused = (code: string, reason?: string) => (thrown: unknown) =>
  isToolError(thrown) && thrown.code === code && (reason === undefined || thrown.details['reason'] === reason);

test('a run has its folder below tools with a pack and below runs without [S4-8]', (t) => {
  const base = scratch(t);
  for (const [withPack, section] of [
    [true, 'tools'],
    [false, 'runs'],
  ] as const) {
    const run = createRunFolder({ base, tool: 'ask', withPack, ids: listed(runId(1)) });
    run.close();
    assert.equal(run.runId, runId(1));
    assert.equal(run.path, join(base, section, 'ask', runId(1)));
    assert.ok(statSync(run.path).isDirectory());
  }
});

test('a base that is missing is made, and every folder is private whatever the umask [S4-10]', (t) => {
  const base = join(scratch(t), 'not/there/yet');
  for (const umask of [0o000, 0o277]) {
    const before = process.umask(0o022);
    try {
      mkdirSync(base, { recursive: true });
      process.umask(umask);
      createRunFolder({ base, tool: `t${umask}`, withPack: true, ids: listed(runId(1)) }).close();
    } finally {
      process.umask(before);
    }
    for (const path of [`tools/t${umask}`, `tools/t${umask}/${runId(1)}`]) assert.equal(mode(join(base, path)), 0o700);
  }
  const fresh = join(scratch(t), 'a/b');
  createRunFolder({ base: fresh, tool: 'ask', withPack: false, ids: listed(runId(1)) }).close();
  for (const path of ['', 'runs', 'runs/ask']) assert.equal(mode(join(fresh, path)), 0o700);
});

test('a taken id is tried again with the next one [S4-9]', (t) => {
  const base = scratch(t);
  mkdirSync(join(base, 'tools/ask'), { recursive: true });
  mkdirSync(join(base, 'tools/ask', runId(1)));
  writeFileSync(join(base, 'tools/ask', runId(2)), '');
  symlinkSync('/nowhere', join(base, 'tools/ask', runId(3)));
  const ids = listed(runId(1), runId(2), runId(3), runId(4));
  const run = createRunFolder({ base, tool: 'ask', withPack: true, ids });
  run.close();
  assert.equal(run.runId, runId(4));
  assert.equal(existsSync('/nowhere'), false);
});

test('a hundred taken ids are enough [S4-9]', (t) => {
  const base = scratch(t);
  mkdirSync(join(base, 'tools/ask', runId(1)), { recursive: true });
  let tries = 0;
  const ids = {
    next() {
      tries += 1;
      return runId(1);
    },
  };
  assert.throws(
    () => createRunFolder({ base, tool: 'ask', withPack: true, ids }),
    refused('E_FILE_IO', 'run_id_collision'),
  );
  assert.equal(tries, 100);
});

test('a link at any name below the base is refused and nothing is made behind it [S4-10]', (t) => {
  const outside = scratch(t);
  for (const path of ['tools', 'tools/ask']) {
    const base = scratch(t);
    mkdirSync(join(base, path, '..'), { recursive: true });
    symlinkSync(outside, join(base, path));
    assert.throws(
      () => createRunFolder({ base, tool: 'ask', withPack: true, ids: listed(runId(1)) }),
      refused('E_POLICY', 'link'),
    );
    const place = { base, tool: 'ask', withPack: true };
    assert.throws(() => latestRunFolder(place), refused('E_POLICY', 'link'));
    assert.throws(() => openRunFolder({ ...place, runId: runId(1) }), refused('E_POLICY', 'link'));
  }
  assert.deepEqual(readdirSync(outside), []);
});

test('a base that is itself reached through a link is the word of the operator [S4-10]', (t) => {
  const folder = scratch(t);
  mkdirSync(join(folder, 'real'));
  symlinkSync('real', join(folder, 'link'));
  const run = createRunFolder({ base: join(folder, 'link'), tool: 'ask', withPack: true, ids: listed(runId(1)) });
  run.close();
  assert.equal(run.path, join(folder, 'real/tools/ask', runId(1)));
});

test('a folder that others may write to is refused [S4-10]', (t) => {
  const base = scratch(t);
  mkdirSync(join(base, 'tools'));
  const make = () => createRunFolder({ base, tool: 'ask', withPack: true, ids: listed(runId(1)) }).close();
  for (const open of [0o777, 0o770, 0o702]) {
    chmodSync(join(base, 'tools'), open);
    assert.throws(make, refused('E_POLICY', 'unsafe_folder'));
  }
  chmodSync(join(base, 'tools'), 0o755);
  make();
});

test('a tool name that is no single harmless part is refused before anything is made [S4-11]', async (t) => {
  const base = scratch(t);
  for (const tool of ['', '.', '..', '../x', 'a/b', 'A', '-a', 'a..b', 'a\0']) {
    const place = { base, tool, withPack: true };
    assert.throws(() => createRunFolder({ ...place, ids: listed() }), refused('E_VALIDATION_FAIL'), tool);
    assert.throws(() => latestRunFolder(place), refused('E_VALIDATION_FAIL'), tool);
    assert.throws(() => runIdsOf(place), refused('E_VALIDATION_FAIL'), tool);
  }
  for (const id of ['', '..', '../../x', `${runId(1)}/..`]) {
    const place = { base, tool: 'ask', withPack: true };
    assert.throws(() => createRunFolder({ ...place, ids: listed(id) }), refused('E_VALIDATION_FAIL'), id);
    assert.throws(() => openRunFolder({ ...place, runId: id }), refused('E_VALIDATION_FAIL'), id);
    await assert.rejects(removeRun({ ...place, runId: id }), refused('E_VALIDATION_FAIL'), id);
  }
  assert.deepEqual(readdirSync(base), ['tools']);
});

test('the latest run is the greatest name among folders [S4-12]', (t) => {
  const base = scratch(t);
  const place = { base, tool: 'ask', withPack: true };
  assert.equal(latestRunFolder({ ...place, base: join(base, 'missing') }), '');
  assert.equal(latestRunFolder(place), '');
  mkdirSync(join(base, 'tools/ask'), { recursive: true });
  assert.equal(latestRunFolder(place), '');
  for (const id of [runId(2), runId(1), runId(2, 1)]) mkdirSync(join(base, 'tools/ask', id));
  writeFileSync(join(base, 'tools/ask', runId(9)), 'a file');
  symlinkSync('.', join(base, 'tools/ask', runId(8)));
  mkdirSync(join(base, 'tools/ask/zzz'));
  assert.equal(latestRunFolder(place), join(base, 'tools/ask', runId(2, 1)));
  assert.equal(latestRunFolder({ ...place, withPack: false }), '');
});

test('all runs are listed newest first, of every tool, with and without a pack [S4-12]', (t) => {
  const base = scratch(t);
  assert.deepEqual(listRuns({ base }), []);
  for (const path of [`tools/b/${runId(1)}`, `tools/a/${runId(3)}`, `runs/a/${runId(2)}`, `runs/b/${runId(3)}`]) {
    mkdirSync(join(base, path), { recursive: true });
  }
  mkdirSync(join(base, 'runs/Not A Tool', runId(9)), { recursive: true });
  assert.deepEqual(
    listRuns({ base }).map(({ path }) => path.slice(base.length + 1)),
    [`tools/a/${runId(3)}`, `runs/b/${runId(3)}`, `runs/a/${runId(2)}`, `tools/b/${runId(1)}`],
  );
  assert.deepEqual(runIdsOf({ base, tool: 'a', withPack: true }), [runId(3)]);
});

test('a run is removed with everything in it, and nothing behind a link', async (t) => {
  const [base, outside] = [scratch(t), scratch(t)];
  writeFileSync(join(outside, 'precious'), 'x');
  const place = { base, tool: 'ask', withPack: false, runId: runId(1) };
  assert.equal(await removeRun(place), false);
  const run = createRunFolder({ ...place, ids: listed(runId(1)) });
  mkdirSync(join(run.path, 'outputs/deep'), { recursive: true });
  symlinkSync(outside, join(run.path, 'outputs/link'));
  run.close();
  assert.equal(await removeRun(place), true);
  assert.deepEqual(readdirSync(join(base, 'runs/ask')), []);
  symlinkSync(outside, join(base, 'runs/ask', runId(2)));
  await assert.rejects(removeRun({ ...place, runId: runId(2) }), refused('E_POLICY', 'link'));
  assert.deepEqual(readdirSync(outside), ['precious']);
});

test('an earlier run is opened where it is', (t) => {
  const base = scratch(t);
  const place = { base, tool: 'ask', withPack: true, runId: runId(1) };
  assert.equal(openRunFolder(place), undefined);
  createRunFolder({ ...place, ids: listed(runId(1)) }).close();
  const run = openRunFolder(place);
  assert.equal(run?.path, join(base, 'tools/ask', runId(1)));
  run?.close();
  run?.close();
});
