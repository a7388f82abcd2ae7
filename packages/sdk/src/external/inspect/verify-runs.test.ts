/** Real runs, then someone with access to the state folder: what was changed is found, and what was not is proven. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { JsonObject } from '@tool-runtime/protocol';
import { openExternalScene, type Scene } from '../../../test/external-scene.ts';
import type { RunResult } from '../../contracts/external.ts';
import { digest } from '../../platform/digest.ts';
import { resultText, runDigest } from '../result/new-result.ts';
import { recordUnlistedRun } from '../run/record-refused.ts';
import type { JournalReader } from './compare-journal.ts';
import { findRunLocations, listRuns } from './read-run.ts';
import { type VerifiedRun, verifyRuns } from './verify-runs.ts';

const OUTPUT = `mkdir d; echo hi > d/a.txt; : > empty; result '[{"path":"d/a.txt","media_type":"text/plain"},{"path":"empty","media_type":"text/plain"}]'`;

const LATER = Date.now() + 2 * 86_400_000;

let scene: Scene;

before(async () => {
  scene = await openExternalScene({
    tools: ['name: plain', 'name: needs-pack', 'name: loose, requires_pack: false', 'name: brief, timeout_ms: 700'],
    lock: ['plain', 'needs-pack', 'brief'],
  });
  writeFileSync(join(scene.workspace, 'a.pack'), 'content');
});

after(() => scene.dispose());

/** Of the run that came last. */
async function call(tool: string, args: JsonObject): Promise<string> {
  const response = await scene.session.call(tool, args);
  const { value } = listRuns(scene.state, { tool }).next();
  assert.ok(value !== undefined, JSON.stringify(response.errors));
  return join(scene.state, value.run_dir);
}

const finished = () => call('plain', { args: [OUTPUT] });

/** `now`: a run without a result is damaged once it cannot be running any more. */
async function verify(folder: string, runtime: JournalReader = scene.runtime, now = Date.now()): Promise<VerifiedRun> {
  const [runId = '', tool = ''] = folder.split('/').reverse();
  const runs = findRunLocations(scene.state, `${tool}/${runId}`);
  const { registry } = scene.runtime;
  const reader = { registry, records: runtime.records.bind(runtime), verify: runtime.verify.bind(runtime) };
  for await (const verdict of verifyRuns({ state: scene.state, runs, runtime: reader, now })) return verdict;
  return assert.fail(`not found: ${folder}`);
}

function readResult(folder: string): RunResult & JsonObject {
  return JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8'));
}

/** As an attacker would who knows the protocol: with a digest that fits. */
function forge(folder: string, change: (result: RunResult & JsonObject) => object): void {
  const changed = change(readResult(folder)) as RunResult;
  writeFileSync(join(folder, 'result.json'), resultText({ ...changed, run_digest: runDigest(changed) }));
}

describe('an untouched run', () => {
  for (const [subject, make] of [
    ['that succeeded', finished],
    ['that was partial', () => call('plain', { args: ['true'] })],
    ['that failed', () => call('plain', { args: [`${OUTPUT}; exit 3`] })],
    ['with a pack', () => call('needs-pack', { args: [OUTPUT], pack: 'a.pack' })],
    ['that was stopped', () => call('brief', { args: ['sleep 60'] })],
    ['without a lock entry', () => call('loose', { args: ['true'] })],
    ['without its pack', () => call('needs-pack', {})],
    ['that a gate refused', () => call('plain', { surprise: 1 })],
  ] as const) {
    test(`${subject} is proven by its folder and the journal [S4-39 S4-50]`, async () => {
      const { verdict, problems } = await verify(await make());
      assert.deepEqual([verdict, problems], ['ok', []]);
    });
  }

  test('of a tool that is not listed is on record and proven [S4-39]', async () => {
    const response = await scene.session.call('nobody', {});
    const [error] = response.errors;
    const requested = [...scene.runtime.records({ kind: 'requested' })].at(-1);
    assert.ok(error !== undefined && requested?.kind === 'requested');
    const { call_id: callId, session_id: sessionId, actor } = requested;
    const made = await recordUnlistedRun({ state: scene.state, tool: 'nobody', callId, sessionId, actor, error });
    const folder = join(scene.state, made.run_dir);
    const result = readResult(folder);
    assert.deepEqual(
      [result.status, result.exit_code, result.tool_exit_code, result.errors[0]?.code],
      ['failure', 10, null, 'COMPONENT_NOT_FOUND'],
    );
    assert.equal((await verify(folder)).verdict, 'ok');
    await assert.rejects(recordUnlistedRun({ state: scene.state, tool: '../x', callId, sessionId, actor, error }), {
      code: 'E_VALIDATION_FAIL',
    });
  });

  test('that may be going on is neither proven nor damaged; later without a result it is damaged', async () => {
    const folder = join(scene.state, 'external/runs/brief');
    mkdirSync(folder, { recursive: true });
    const id = `${new Date().toISOString().slice(0, 19).replaceAll(':', '-')}-000000Z-000000`;
    for (const [runId, verdict] of [
      [id, 'running'],
      ['2001-01-01T00-00-00-000000Z-000000', 'damaged'],
    ] as const) {
      mkdirSync(join(folder, runId), { mode: 0o700 });
      assert.equal((await verify(join(folder, runId))).verdict, verdict);
    }
  });
});

describe('a run that was tampered with is damaged', () => {
  /** Another run, for results that claim its call. */
  before(() => finished());

  const attacks: Readonly<Record<string, readonly [(folder: string) => unknown, RegExp]>> = {
    'its status was changed': [
      (folder) => {
        const text = readFileSync(join(folder, 'result.json'), 'utf8');
        writeFileSync(join(folder, 'result.json'), text.replace('"status": "success"', '"status": "partial"'));
      },
      /run_digest does not fit.*status does not fit.*result\.json is not the one/,
    ],
    'one byte of its result was changed': [
      (folder) => {
        const text = readFileSync(join(folder, 'result.json'), 'utf8');
        writeFileSync(join(folder, 'result.json'), text.replace('"kept"', '"kepT"'));
      },
      /^result\.json is not the one in the journal$/,
    ],
    'only the layout of its result was changed': [
      (folder) => writeFileSync(join(folder, 'result.json'), JSON.stringify(readResult(folder))),
      /^result\.json is not the one in the journal$/,
    ],
    'its result is no JSON': [(folder) => writeFileSync(join(folder, 'result.json'), '{'), /^result\.json: /],
    'its result lacks a field': [
      (folder) => writeFileSync(join(folder, 'result.json'), JSON.stringify({ ...readResult(folder), errors: null })),
      /Required field is missing: errors/,
    ],
    'its result is gone': [
      (folder) => renameSync(join(folder, 'result.json'), join(folder, 'x')),
      /result\.json is missing/,
    ],
    'its result is a link': [
      (folder) => {
        renameSync(join(folder, 'result.json'), join(folder, 'x'));
        symlinkSync('x', join(folder, 'result.json'));
      },
      /result\.json is a link/,
    ],
    'its result has a second name': [
      (folder) => linkSync(join(folder, 'result.json'), join(folder, 'x')),
      /second name/,
    ],
    'others may write its result': [
      (folder) => chmodSync(join(folder, 'result.json'), 0o666),
      /^result\.json can be written by others$/,
    ],
    'others may write into its folder': [(folder) => chmodSync(folder, 0o777), /^run folder can be written by others$/],
    'the content of an output was changed': [
      (folder) => writeFileSync(join(folder, 'd/a.txt'), 'HI\n'),
      /^output d\/a\.txt: digest differs$/,
    ],
    'an output was cut': [(folder) => truncateSync(join(folder, 'd/a.txt'), 1), /^output d\/a\.txt: size differs$/],
    'an empty output was filled': [(folder) => writeFileSync(join(folder, 'empty'), 'x'), /^output empty: size/],
    'an output is gone': [(folder) => rmSync(join(folder, 'd/a.txt')), /^output d\/a\.txt: missing$/],
    'an output is a link to the same bytes': [
      (folder) => {
        renameSync(join(folder, 'd/a.txt'), join(folder, 'd/b.txt'));
        symlinkSync('b.txt', join(folder, 'd/a.txt'));
      },
      /^output d\/a\.txt: link$/,
    ],
    'the folder of an output is a link': [
      (folder) => {
        renameSync(join(folder, 'd'), join(folder, 'e'));
        symlinkSync('e', join(folder, 'd'));
      },
      /^output d\/a\.txt: link$/,
    ],
    'an output and its digests were forged': [
      (folder) => {
        writeFileSync(join(folder, 'd/a.txt'), 'forged');
        const forged = { path: 'd/a.txt', media_type: 'text/plain', digest: digest('forged'), bytes: 6 };
        forge(folder, ({ outputs, ...result }) => ({ ...result, outputs: [forged, ...outputs.slice(1)] }));
      },
      /^run_digest is not the one in the journal result\.json is not the one in the journal$/,
    ],
    'a failure was forged into it': [
      (folder) => forge(folder, (result) => ({ ...result, status: 'failure', exit_code: 1, tool_exit_code: 1 })),
      /run_digest is not the one in the journal.*the journal says completed/,
    ],
    'it names the call of another run': [
      (folder) =>
        forge(folder, (result) => ({ ...result, call: { ...(result['call'] as JsonObject), call_id: otherCall() } })),
      /it names another call than the journal/,
    ],
    'it names no call': [
      (folder) => forge(folder, ({ call: _, ...result }) => result),
      /it names another call than the journal/,
    ],
    'it names another session': [
      (folder) =>
        forge(folder, (result) => ({ ...result, call: { ...(result['call'] as JsonObject), session_id: 'x' } })),
      /it names another session than the journal.*result\.json is not the one/,
    ],
  };

  const otherCall = (): string => {
    const [first] = scene.runtime.records({ kind: 'result' });
    return first?.kind === 'result' ? first.call_id : assert.fail('no call');
  };

  for (const [attack, [tamper, expected]] of Object.entries(attacks)) {
    test(`when ${attack} [S4-39 S4-27]`, async () => {
      const folder = await finished();
      assert.equal((await verify(folder)).verdict, 'ok');
      tamper(folder);
      const { problems, verdict } = await verify(folder, scene.runtime, LATER);
      assert.equal(verdict, 'damaged');
      assert.match(problems.join(' '), expected);
    });
  }

  test('when its folder has the name of another run, also with a result made to fit [S4-39]', async () => {
    const folder = await finished();
    const renamed = folder.replace(/\d{6}Z-\d{6}$/, '000001Z-000000');
    renameSync(folder, renamed);
    assert.match((await verify(renamed)).problems.join(), /about another run/);
    forge(renamed, (result) => ({ ...result, run_id: renamed.slice(-34) }));
    const { verdict, problems } = await verify(renamed);
    assert.equal(verdict, 'damaged');
    assert.match(problems.join(), /the journal has another run for its call/);
  });

  test('when its folder lies at another tool, also with a result made to fit [S4-39]', async () => {
    const folder = await finished();
    await call('loose', {});
    const moved = folder.replace('/plain/', '/loose/');
    cpSync(folder, moved, { recursive: true });
    chmodSync(moved, 0o700);
    assert.match((await verify(moved)).problems.join(), /about another tool/);
    forge(moved, (result) => ({ ...result, tool: { ...result.tool, name: 'loose' } }));
    assert.notEqual((await verify(moved)).verdict, 'ok');
  });

  test('when its folder is a link to the real one [S4-39]', async () => {
    const folder = await finished();
    renameSync(folder, `${folder}.aside`);
    symlinkSync(`${folder}.aside`, folder);
    assert.match((await verify(folder)).problems.join(), /link or no folder/);
  });

  for (const [change, forged, expected] of [
    ['an output', { outputs: [{ path: 'result.json.tool', media_type: 'x/y' }] }, /the result says more/],
    ['a success', { status: 'success', exit_code: 0, errors: [] }, /says more.*that it ran.*not the one/],
    ['an exit code', { exit_code: 3, tool_exit_code: 3 }, /the result that it ran/],
    ['another refusal', { errors: [{ code: 'E_POLICY', message: 'Other' }] }, /the refusal is not the one/],
  ] as const) {
    test(`when ${change} was forged into a refusal [S4-39]`, async () => {
      const folder = await call('plain', { surprise: 1 });
      assert.equal((await verify(folder)).verdict, 'ok');
      forge(folder, (result) => ({ ...result, ...forged }));
      const { verdict, problems } = await verify(folder);
      assert.equal(verdict, 'damaged');
      assert.match(problems.join(), expected);
    });
  }
});

describe('a run the journal cannot vouch for', () => {
  const withRecords = (records: JournalReader['records'], more: object = {}): JournalReader => ({
    records,
    verify: () => ({ ...scene.runtime.verify(), ...more }),
  });

  test('is unknown when its call is not on record [S4-50]', async () => {
    const folder = await finished();
    const { verdict, problems } = await verify(
      folder,
      withRecords(() => []),
    );
    assert.deepEqual([verdict, problems], ['unknown', ['no record of its call']]);
  });

  test('is unknown when the record says nothing of the run [S4-50]', async () => {
    const folder = await finished();
    const { verdict, problems } = await verify(
      folder,
      withRecords(function* () {
        for (const record of scene.runtime.records()) yield { ...record, details: {} } as typeof record;
      }),
    );
    assert.deepEqual([verdict, problems], ['unknown', ['the journal has no digest of the run']]);
  });

  test('is unknown when the chain is broken before its record, and proven when it is broken behind it [S4-50]', async () => {
    const folder = await finished();
    const { seq } = scene.runtime.head();
    const records = () => scene.runtime.records();
    for (const [brokenAt, expected] of [
      [1, 'unknown'],
      [seq, 'unknown'],
      [seq + 1, 'ok'],
    ] as const) {
      const broken = { ok: false, broken: { seq: brokenAt, reason: 'x' } };
      assert.equal((await verify(folder, withRecords(records, broken))).verdict, expected, String(brokenAt));
    }
  });

  test('is found copied under a new id by the time in the journal [S4-39]', async () => {
    const folder = await call('plain', { surprise: 1 });
    const copy = folder.replace(/\d{4}-(?=[^/]*$)/, '2001-');
    mkdirSync(copy, { mode: 0o700 });
    copyFileSync(join(folder, 'result.json'), join(copy, 'result.json'));
    forge(copy, (result) => ({ ...result, run_id: copy.slice(-34) }));
    assert.match((await verify(copy)).problems.join(), /another time/);
  });
});
