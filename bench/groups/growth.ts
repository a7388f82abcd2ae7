/**
 * How costs grow: files in the workspace, length of the journal, open sessions, size of a file, of the registry, rules.
 *
 * The budget of a curve is its exponent between its ends: 1 is linear in what grows, 0 does not depend on it. A per-call
 * cost should not depend on what lies around it; a cost over everything may be linear, not more.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRuntime, defineRule, type RuleDefinition, type Runtime, type Session } from '@tool-runtime/sdk';
import type { Budget } from '../budget.ts';
import type { Group } from '../group.ts';
import type { Table } from '../table.ts';

interface Point {
  readonly size: number;
  readonly micros: number;
}

interface Curve {
  readonly name: string;
  readonly unit: string;
  /** The exponent: 1 is in proportion to the size. */
  readonly atMost: number;
  /** The largest size against the smallest, for costs that should not grow at all. */
  readonly timesAtMost?: number;
  readonly points: readonly Point[];
}

const FILES_PER_FOLDER = 250;

export const growth: Group = {
  name: 'growth',
  summary: 'cost against number of files, journal length, sessions, file size, registry size and rules',
  async run({ quick }) {
    const scale = quick ? 0.002 : 1;
    const sizes = (...wanted: number[]): number[] => [
      ...new Set(wanted.map((size) => Math.max(1, Math.round(size * scale)))),
    ];
    const curves = [
      ...(await fileCurves(sizes(1000, 10_000, 100_000))),
      ...(await journalCurves(sizes(1000, 10_000, 100_000, 1_000_000))),
      ...(await sessionCurves(sizes(1, 10, 100, 1000))),
      await fileSizeCurve(sizes(16_384, 262_144, 4_194_304, 67_108_864)),
      ...(await registryCurves(sizes(1, 10, 100, 1000))),
      await ruleCurve('rules about other tools', 0.1, sizes(1, 10, 100, 1000)),
      await ruleCurve('rules that judge it', 1.1, sizes(1, 10, 100, 1000)),
    ];
    return { tables: curves.map(tableOf), budgets: curves.flatMap(budgetOf) };
  },
};

interface Place {
  readonly workspace: string;
  open(registry?: string, rules?: readonly RuleDefinition[]): Promise<Runtime>;
  dispose(): void;
}

function makePlace(): Place {
  const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-growth-'));
  const workspace = join(scratch, 'workspace');
  mkdirSync(workspace);
  let opened = 0;
  return {
    workspace,
    open: (registry, rules = []) =>
      createRuntime({
        workspace,
        rules,
        state: join(scratch, `state-${opened++}`),
        ...(registry === undefined ? {} : { registry: { text: registry, file: 'bench.yaml' } }),
      }),
    dispose: () => rmSync(scratch, { recursive: true, force: true }),
  };
}

async function call(session: Session, tool: string, args: object): Promise<void> {
  const { ok, errors } = await session.call(tool, args);
  if (!ok) throw new TypeError(`The benchmark was refused: ${tool}: ${errors[0]?.message}`);
}

/** Median of several; one is enough for what takes long. */
async function timed(work: () => Promise<unknown>, repeats = 5): Promise<number> {
  const took: number[] = [];
  for (let at = 0; at < repeats; at++) {
    const started = performance.now();
    await work();
    const micros = (performance.now() - started) * 1000;
    took.push(micros);
    if (micros > 2e6) break;
  }
  return took.sort((one, other) => one - other)[Math.floor(took.length / 2)] ?? 0;
}

async function timedCalls(session: Session, tool: string, args: object): Promise<number> {
  const batch = async (): Promise<void> => {
    for (let at = 0; at < 200; at++) await call(session, tool, args);
  };
  await batch();
  return (await timed(batch)) / 200;
}

async function fileCurves(counts: readonly number[]): Promise<Curve[]> {
  const [listing, searching, reading]: [Point[], Point[], Point[]] = [[], [], []];
  const place = makePlace();
  let made = 0;
  for (const size of counts) {
    for (; made < size; made++) {
      const folder = join(place.workspace, `d${Math.floor(made / FILES_PER_FOLDER)}`);
      if (made % FILES_PER_FOLDER === 0) mkdirSync(folder);
      writeFileSync(join(folder, `f${made}.txt`), `line ${made}\nsome words\n`);
    }
    const runtime = await place.open();
    const session = await runtime.openSession();
    listing.push({
      size,
      micros: await timed(() => call(session, 'fs_list', { glob: '**/*.txt', max_results: 100_000 })),
    });
    searching.push({ size, micros: await timed(() => call(session, 'grep', { pattern: 'not there' })) });
    reading.push({ size, micros: await timedCalls(session, 'file_read', { path: 'd0/f0.txt' }) });
    await runtime.close();
  }
  place.dispose();
  return [
    { name: 'fs_list over all', unit: 'files', atMost: 1.15, points: listing },
    { name: 'grep over all', unit: 'files', atMost: 1.15, points: searching },
    { name: 'file_read of one', unit: 'files around it', atMost: 0.1, points: reading },
  ];
}

async function journalCurves(lengths: readonly number[]): Promise<Curve[]> {
  const [calling, opening, verifying, finding]: [Point[], Point[], Point[], Point[]] = [[], [], [], []];
  const place = makePlace();
  writeFileSync(join(place.workspace, 'a.txt'), 'a\n');
  const state = join(place.workspace, '..', 'journal-state');
  const open = (): Promise<Runtime> => createRuntime({ workspace: place.workspace, state });
  for (const size of lengths) {
    let runtime = await open();
    let session = await runtime.openSession();
    while (runtime.head().seq < size) {
      await session.batch(
        Array.from({ length: 32 }, () => ({ tool: 'file_read', args: { path: 'a.txt' } })),
        { strategy: { type: 'bounded_concurrent', max_in_flight: 32 } },
      );
    }
    calling.push({ size, micros: await timedCalls(session, 'file_read', { path: 'a.txt' }) });
    finding.push({ size, micros: await timed(async () => [...runtime.records({ limit: 20 })]) });
    verifying.push({ size, micros: await timed(async () => runtime.verify(), 1) });
    await runtime.close();
    opening.push({
      size,
      micros: await timed(async () => {
        runtime = await open();
        session = await runtime.openSession();
        await runtime.close();
      }),
    });
  }
  place.dispose();
  return [
    { name: 'a recorded call', unit: 'records before it', atMost: 0.1, points: calling },
    { name: 'opening a runtime', unit: 'records', atMost: 0.1, points: opening },
    { name: 'reading twenty records', unit: 'records', atMost: 0.1, points: finding },
    { name: 'verifying all', unit: 'records', atMost: 1.1, points: verifying },
  ];
}

async function sessionCurves(counts: readonly number[]): Promise<Curve[]> {
  const [opening, calling]: [Point[], Point[]] = [[], []];
  const place = makePlace();
  writeFileSync(join(place.workspace, 'a.txt'), 'a\n');
  const runtime = await place.open();
  const sessions: Session[] = [];
  for (const size of counts) {
    while (sessions.length < size - 1) sessions.push(await runtime.openSession());
    opening.push({
      size,
      micros: await timed(async () => {
        const session = await runtime.openSession();
        await session.close();
      }),
    });
    sessions.push(await runtime.openSession());
    calling.push({ size, micros: await timedCalls(sessions.at(-1) as Session, 'file_read', { path: 'a.txt' }) });
  }
  await runtime.close();
  place.dispose();
  return [
    { name: 'opening a session', unit: 'sessions open', atMost: 0.1, points: opening },
    { name: 'a call', unit: 'sessions open', atMost: 0.1, points: calling },
  ];
}

async function fileSizeCurve(sizes: readonly number[]): Promise<Curve> {
  const points: Point[] = [];
  const place = makePlace();
  const runtime = await place.open();
  const session = await runtime.openSession();
  for (const size of sizes) {
    writeFileSync(join(place.workspace, 'a.txt'), 'x'.repeat(size));
    points.push({ size, micros: await timed(() => call(session, 'file_read', { path: 'a.txt', max_bytes: 4096 }), 9) });
  }
  await runtime.close();
  place.dispose();
  return { name: 'file_read of a page with the digest of all', unit: 'bytes', atMost: 1.1, points };
}

async function registryCurves(counts: readonly number[]): Promise<Curve[]> {
  const [loading, calling]: [Point[], Point[]] = [[], []];
  const place = makePlace();
  writeFileSync(join(place.workspace, 'a.txt'), 'a\n');
  for (const size of counts) {
    const lines = Array.from({ length: size }, (_, at) => `  - { tool: file_write, arg_patterns: ['f${at}/**'] }`);
    const text = `version: 1\narg_constraints:\n${lines.join('\n')}\n`;
    let runtime = await place.open(text);
    loading.push({
      size,
      micros: await timed(async () => {
        await runtime.close();
        runtime = await place.open(text);
      }),
    });
    const session = await runtime.openSession();
    calling.push({ size, micros: await timedCalls(session, 'file_read', { path: 'a.txt' }) });
    await runtime.close();
  }
  place.dispose();
  return [
    { name: 'opening a runtime', unit: 'constraints of another tool', atMost: 1.1, points: loading },
    { name: 'a call', unit: 'constraints of another tool', atMost: 0.1, points: calling },
  ];
}

async function ruleCurve(unit: string, atMost: number, counts: readonly number[]): Promise<Curve> {
  const points: Point[] = [];
  const place = makePlace();
  writeFileSync(join(place.workspace, 'a.txt'), 'a\n');
  const tool = atMost < 1 ? 'file_write' : 'file_read';
  for (const size of counts) {
    const rules = Array.from({ length: size }, (_, at) =>
      defineRule({
        id: `bench.rule.r${at}`,
        category: 'Bench',
        description: 'Finds nothing',
        phase: 'before',
        trigger: `before ${tool}`,
        defaultEnforcement: 'blocking',
        tools: [tool],
        appliesTo: () => true,
        check: () => [],
      }),
    );
    const listed = rules.map(({ id }) => `  - rule: ${id}`);
    const runtime = await place.open(`version: 1\nvalidators:\n${listed.join('\n')}\n`, rules);
    const session = await runtime.openSession();
    points.push({ size, micros: await timedCalls(session, 'file_read', { path: 'a.txt' }) });
    await runtime.close();
  }
  place.dispose();
  return { name: 'a call', unit, atMost, points, ...(atMost < 1 ? { timesAtMost: 1.05 } : {}) };
}

function tableOf({ name, unit, points }: Curve): Table {
  const [first] = points;
  const label = ({ size }: Point): string => `${size.toLocaleString('en')} ${unit}`;
  return {
    title: `${name}, by ${unit}`,
    peers: first === undefined ? [] : [label(first)],
    rows: points.map((point) => ({
      name: label(point),
      medianMicros: point.micros,
      perSecond: 1e6 / point.micros,
      ratios: first === undefined ? [] : [point.micros / first.micros],
    })),
  };
}

/** Between the ends: small sizes are all constant cost, so the last decade alone would tell less about the whole. */
function budgetOf({ name, unit, atMost, timesAtMost, points }: Curve): Budget[] {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined || first === last) return [];
  const measured = Math.log(last.micros / first.micros) / Math.log(last.size / first.size);
  const size = (point: Point): string => point.size.toLocaleString('en');
  const times = {
    name: `${name} with ${size(last)} ${unit}, times one with ${size(first)}`,
    unit: 'x',
    measured: last.micros / first.micros,
  };
  return [
    { name: `${name}, by ${unit}: exponent`, atMost, unit: '', measured },
    ...(timesAtMost === undefined ? [] : [{ ...times, atMost: timesAtMost }]),
  ];
}
