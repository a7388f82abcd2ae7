/**
 * Power that goes out for all servers at once. Everything they do to their files is recorded with strace and replayed onto a
 * model of a disk that keeps only what was synced; servers are started on what is left.
 */
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { type DevServers, serverProgram, startDevServers } from '../packages/fleet/src/operate/dev-servers.ts';
import { compareAndAppend } from '../packages/fleet/src/wire/compare-and-append.ts';
import { checkFleet, type FleetFile } from '../packages/fleet/src/wire/fleet-file.ts';
import { callSubject, STREAMS } from '../packages/fleet/src/wire/names.ts';
import { openWire } from '../packages/fleet/src/wire/open-wire.ts';
import { readStream } from '../packages/fleet/src/wire/read-stream.ts';
import { ensureStreams } from '../packages/fleet/src/wire/streams.ts';
import { USERS } from '../packages/fleet/test/fixtures.ts';
import { whole } from '../packages/fleet/test/killer.ts';
import { DiskModel } from '../packages/sdk/test/power/disk-model.ts';
import {
  chances,
  droppedImage,
  type Image,
  layDown,
  namesOnlyImage,
  tornImage,
} from '../packages/sdk/test/power/images.ts';
import { parseTimedTrace, TIMED_STRACE, type TimedStep } from '../packages/sdk/test/power/trace.ts';

const SERVERS = ['n1', 'n2', 'n3'] as const;
const QUORUM = 2;
const APPENDS = 40;
/** Some are larger than what a disk writes at once. Servers compress what is larger than 8 KB, so it could not be found. */
const SIZES = [20, 700, 6000];
const BOOTS = Number(process.env['FLEET_POWER_BOOTS'] ?? 3);

interface Acknowledged {
  readonly body: string;
  readonly seq: number;
  /** When the writer had its answer, in seconds. */
  readonly at: number;
}

interface Recording {
  readonly root: string;
  readonly steps: readonly TimedStep[];
  /** When the first record was sent. */
  readonly begun: number;
  readonly acknowledged: readonly Acknowledged[];
}

function scratchOf(t: TestContext): string {
  const scratch = mkdtempSync(path.join(os.tmpdir(), 'fleet-power-'));
  t.after(() => rmSync(scratch, { recursive: true, force: true }));
  return scratch;
}

function fileOf(servers: DevServers, user: 'a' | 'operator'): FleetFile {
  return checkFleet({
    servers: [...servers.addresses],
    credentials: { user, password: `of-${user}` },
    system: { user: 'status', password: 'of-status' },
    host: 'a',
    replicas: SERVERS.length,
    lease_ms: 3000,
  });
}

/** A program that is a server under strace; the trace is named after the file of its configuration. */
function tracedProgram(scratch: string): string {
  const program = path.join(scratch, 'traced-server');
  const words = [...TIMED_STRACE, serverProgram()].map((word) => `'${word}'`).join(' ');
  // The server is the process that was started, and strace its child: signals reach the server.
  writeFileSync(program, `#!/bin/sh\nexec strace -D -o "${scratch}/$(basename "$2" .conf).trace" ${words} "$@"\n`);
  chmodSync(program, 0o755);
  return program;
}

async function record(scratch: string, sync: string): Promise<Recording> {
  const root = path.join(scratch, 'servers');
  const program = tracedProgram(scratch);
  const servers = await startDevServers({ folder: root, count: 3, tenant: 'main', users: USERS, program, sync });
  const acknowledged: Acknowledged[] = [];
  let begun = 0;
  try {
    const file = fileOf(servers, 'a');
    const wire = await openWire(file, 'host');
    try {
      await ensureStreams(wire, file);
      await whole(wire);
      begun = nowSeconds();
      for (let count = 0; count < APPENDS; count++) {
        const body = `record ${count} ${'x'.repeat(SIZES[count % SIZES.length] ?? 0)} end ${count}`;
        const subject = callSubject('main', 'shop', 'power', String(count));
        const signal = AbortSignal.timeout(60_000);
        const appended = await compareAndAppend(wire, { stream: STREAMS.journal, subject, body, expected: 0, signal });
        assert.ok(appended.won);
        acknowledged.push({ body, seq: appended.seq, at: nowSeconds() });
      }
    } finally {
      await wire.close();
    }
  } finally {
    await servers.close();
  }
  const traces = SERVERS.map((name) => parseTimedTrace(readFileSync(path.join(scratch, `${name}.trace`), 'utf8')));
  return { root, begun, steps: traces.flat().toSorted((one, other) => one.at - other.at), acknowledged };
}

/** By the clock that strace reads, rounded up: what was answered was on the disks before. */
function nowSeconds(): number {
  return (Date.now() + 1) / 1000;
}

/** What is there now has been on the disk for long. */
function settle(disk: DiskModel, root: string): void {
  const visit = (inode: DiskModel['top'], file: string): void => {
    for (const phase of ['begin', 'end'] as const) disk.apply({ op: 'sync', phase, path: file, id: 'settled' });
    for (const [name, inner] of inode.names) visit(inner, `${file}/${name}`);
  };
  visit(disk.top, root);
}

/** Calls `look` with the disk as it was when each record had been acknowledged, and with how many these are. */
function replay(recording: Recording, look: (disk: DiskModel, acknowledged: number) => void): void {
  const { root, begun, steps, acknowledged } = recording;
  const disk = new DiskModel(root);
  let isSettled = false;
  let seen = 0;
  for (const { step, at } of steps) {
    if (!isSettled && at > begun) {
      settle(disk, root);
      isSettled = true;
    }
    while ((acknowledged[seen]?.at ?? Number.POSITIVE_INFINITY) < at) look(disk, ++seen);
    disk.apply(step);
  }
  assert.equal(seen, acknowledged.length);
}

/** How many servers have the content somewhere on their disks. */
function copiesOf(body: string, image: Image): number {
  const holders = SERVERS.filter((name) =>
    [...image].some(([file, content]) => file.startsWith(`${name}/`) && content?.includes(body)),
  );
  return holders.length;
}

async function boot(image: Image, folder: string): Promise<ReadonlyMap<number, string>> {
  const stored = [...image].filter(([file]) => SERVERS.some((name) => file === name || file.startsWith(`${name}/`)));
  layDown(new Map(stored), folder);
  const servers = await startDevServers({ folder, count: 3, tenant: 'main', users: USERS });
  try {
    const wire = await openWire(fileOf(servers, 'operator'), 'operator');
    try {
      await whole(wire);
      const found = new Map<number, string>();
      for await (const message of readStream(wire, STREAMS.journal)) found.set(message.seq, message.string());
      return found;
    } finally {
      await wire.close();
    }
  } finally {
    await servers.close();
  }
}

describe('power that goes out for all servers', () => {
  test('takes no acknowledged record, and servers that start on what is left have all of them', async (t) => {
    const scratch = scratchOf(t);
    const recording = await record(scratch, 'always');
    const { acknowledged } = recording;
    const chance = chances(7);
    const kinds = [droppedImage, namesOnlyImage, (top: DiskModel['top']) => tornImage(top, chance)];
    const cuts: { readonly count: number; readonly image: Image }[] = [];
    replay(recording, (disk, count) => {
      const image = droppedImage(disk.top);
      for (const { body } of acknowledged.slice(0, count)) {
        assert.ok(copiesOf(body, image) >= QUORUM, `${body.slice(0, 12)} at the answer of ${count}`);
      }
      if (count % Math.floor(APPENDS / BOOTS) === 0) {
        const kind = kinds[cuts.length % kinds.length] ?? droppedImage;
        cuts.push({ count, image: kind(disk.top) });
      }
    });
    for (const { count, image } of cuts) {
      const folder = path.join(scratch, `after-${count}`);
      const found = await boot(image, folder);
      for (const { seq, body } of acknowledged.slice(0, count)) assert.equal(found.get(seq), body);
      rmSync(folder, { recursive: true });
    }
    assert.equal(cuts.length, BOOTS);
  });

  test('takes acknowledged records of servers that sync later, which hosts refuse', async (t) => {
    const recording = await record(scratchOf(t), '2m');
    let lost = 0;
    replay(recording, (disk, count) => {
      const image = droppedImage(disk.top);
      for (const { body } of recording.acknowledged.slice(0, count)) {
        if (copiesOf(body, image) < QUORUM) lost += 1;
      }
    });
    assert.ok(lost > 0);
  });
});
