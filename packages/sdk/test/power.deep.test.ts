/**
 * A power cut at every moment of a run of calls. The run is recorded with strace and replayed onto a model of a disk that
 * keeps only what was synced; what is left is opened as after a reboot.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { isTemporaryName } from '../src/contracts/path-text.ts';
import type { StoredRecord, VerifyReport } from '../src/index.ts';
import { openSqliteJournal } from '../src/journal/store/journal-sqlite.ts';
import { openStateFolder } from '../src/platform/state/state-folder.ts';
import { DiskModel } from './power/disk-model.ts';
import { chances, droppedImage, type Image, layDown, liveImage, namesOnlyImage, tornImage } from './power/images.ts';
import { parseTrace, STRACE, type Step } from './power/trace.ts';

const CHILD = new URL('./power/child.ts', import.meta.url).pathname;
const CALLS = 14;
const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-power-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const BEFORE: Readonly<Record<string, string>> = {
  'work/old.txt': 'old',
  'work/patched.txt': 'one\n',
  'work/gone.txt': 'gone',
  'work/tree/inner/leaf.txt': 'leaf',
};

interface Cut {
  /** Calls that were answered. */
  readonly acks: number;
  readonly image: Image;
}

interface Recording {
  readonly cuts: readonly Cut[];
  /** The workspace when so many calls were answered. */
  readonly after: readonly Image[];
}

function record(level: 'normal' | 'full'): readonly Step[] {
  const base = join(scratch, level);
  for (const [path, content] of Object.entries(BEFORE)) {
    mkdirSync(join(base, path, '..'), { recursive: true });
    writeFileSync(join(base, path), content);
  }
  const trace = join(scratch, `${level}.trace`);
  const node = [process.execPath, '-C', 'tool-runtime-source', CHILD, join(base, 'work'), join(base, 'state'), level];
  const { status, stdout, stderr } = spawnSync('strace', [...STRACE, '-o', trace, ...node], { encoding: 'utf8' });
  assert.deepEqual([status, stdout.match(/^ACK/gm)?.length], [0, CALLS], stdout + stderr);
  return parseTrace(readFileSync(trace, 'utf8'));
}

/** A cut after every step. What a sync would have to be removed for to matter is in `images`. */
function replay(level: 'normal' | 'full', images: (model: DiskModel) => readonly Image[]): Recording {
  const model = diskBefore(join(scratch, level));
  const cuts: Cut[] = [];
  const snapshots = [workspaceOf(liveImage(model.top))];
  for (const step of record(level)) {
    const isAck = step.op === 'say' && step.text.startsWith('ACK');
    if (isAck) snapshots.push(workspaceOf(liveImage(model.top)));
    if (!model.apply(step) && !isAck) continue;
    for (const image of images(model)) cuts.push({ acks: snapshots.length - 1, image });
  }
  snapshots.push(workspaceOf(liveImage(model.top)));
  return { cuts: distinct(cuts), after: snapshots };
}

/** What was there before the run has been on the disk for long. */
function diskBefore(base: string): DiskModel {
  const model = new DiskModel(base);
  const folders = new Set(
    Object.keys(BEFORE).flatMap((path) =>
      path
        .split('/')
        .slice(0, -1)
        .map((_, at, all) => all.slice(0, at + 1).join('/')),
    ),
  );
  for (const folder of [...folders].sort()) model.apply({ op: 'mkdir', path: join(base, folder) });
  for (const [path, content] of Object.entries(BEFORE)) {
    model.apply({ op: 'create', path: join(base, path) });
    model.apply({ op: 'write', path: join(base, path), at: 0, bytes: Buffer.from(content) });
  }
  for (const path of ['', ...folders, ...Object.keys(BEFORE)]) {
    for (const phase of ['begin', 'end'] as const)
      model.apply({ op: 'sync', phase, path: join(base, path).replace(/\/$/, ''), id: 'before' });
  }
  return model;
}

function distinct(cuts: readonly Cut[]): readonly Cut[] {
  const seen = new Map<string, Cut>();
  for (const cut of cuts) {
    const parts = [...cut.image].map(([path, content]) => `${path}:${content?.toString('base64') ?? '/'}`);
    seen.set(`${cut.acks} ${parts.sort().join(' ')}`, cut);
  }
  return [...seen.values()];
}

function workspaceOf(image: Image): Image {
  const below = [...image].filter(([path]) => path.startsWith('work/') && !path.split('/').some(isTemporaryName));
  return new Map(below);
}

interface Found {
  readonly report: VerifyReport;
  readonly later: VerifyReport;
  /** Calls with a result on record. */
  readonly results: number;
  readonly recoveries: readonly string[];
}

const REBOOTED = { id: 'rebooted', pid: 1, birth: 'linux:another-boot:1:1' };
let images = 0;

/** Opens the state folder as a process would after the reboot. */
async function boot(image: Image): Promise<Found> {
  const base = join(scratch, `image-${images++}`);
  layDown(image, base);
  const journal = openSqliteJournal(openStateFolder(join(base, 'state')), { writer: REBOOTED });
  const report = journal.verify();
  journal.reportHeads?.();
  const later = journal.verify();
  const records: readonly StoredRecord[] = [...journal.read()];
  await journal.close();
  rmSync(base, { recursive: true });
  return {
    report,
    later,
    results: records.filter((record) => record.kind === 'result' && record.status === 'completed').length,
    recoveries: records.flatMap((record) => (record.kind === 'recovery' ? [record.reason] : [])),
  };
}

const same = (one: Buffer | null | undefined, other: Buffer | null | undefined): boolean =>
  one === other || (one instanceof Buffer && other instanceof Buffer && one.equals(other));

describe('a power cut', { timeout: 600_000 }, () => {
  test('under full takes nothing that was answered: neither record nor file [S1-40]', async () => {
    const { cuts, after: states } = replay('full', ({ top }) => [
      droppedImage(top),
      namesOnlyImage(top),
      ...[1, 2].map((seed) => tornImage(top, chances(seed))),
    ]);
    for (const { acks, image } of cuts) {
      const [now, next] = [states[acks], states[acks + 1]];
      const found = workspaceOf(image);
      for (const path of new Set([...(now?.keys() ?? []), ...(next?.keys() ?? []), ...found.keys()])) {
        const is = found.get(path);
        assert.ok(
          same(is, now?.get(path)) || same(is, next?.get(path)),
          `${path} after ${acks} calls: ${is === undefined ? 'missing' : (is?.length ?? 'a folder')}`,
        );
      }
      if (acks === 0 && !image.has('state/journal.key')) continue;
      const { report, results } = await boot(image);
      assert.equal(report.ok, true, JSON.stringify(report.broken));
      assert.ok(results >= acks, `${results} results of ${acks} answers`);
    }
    assert.ok(cuts.length > 100, `${cuts.length} cuts`);
  });

  test('under normal is told wherever it took something that was answered [S1-40]', async () => {
    const { cuts } = replay('normal', ({ top }) => [droppedImage(top), tornImage(top, chances(1))]);
    let losses = 0;
    let isBounded = false;
    for (const { acks, image } of cuts) {
      if (acks === 0 && !image.has('state/journal.key')) continue;
      const { report, later, results, recoveries } = await boot(image);
      assert.equal(report.ok, true, JSON.stringify(report.broken));
      assert.equal(later.ok, true, JSON.stringify(later.broken));
      if (results < acks) {
        losses += 1;
        assert.ok((report.losses?.length ?? 0) > 0, `${results} results of ${acks} answers, and verify says ok`);
        assert.ok((later.losses?.length ?? 0) > 0);
        assert.ok(recoveries.includes('machine_stopped'));
      }
      // The call after which the run waited for a sync: from then on six calls are on the disk.
      if (acks > 6) {
        isBounded = true;
        assert.ok(results >= 6, `${results} results`);
      }
    }
    assert.ok(losses > 10 && isBounded, `${losses} images with losses of ${cuts.length}`);
  });
});
