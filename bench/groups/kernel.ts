/**
 * What it costs to go through the governed path, in process: nothing else done, one file read, one file written.
 *
 * The peers are what a program would write without the runtime. They check no path, hold no lock and keep no record.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BenchRuntime, openBenchRuntime } from '../bench-runtime.ts';
import type { Budget } from '../budget.ts';
import { callPlan, type Group, type GroupOptions, type GroupReport } from '../group.ts';
import { type Case, type Comparison, compare, inFlight, inSequence, microsOf, timesFaster } from '../measure.ts';
import { noJournal } from '../no-journal.ts';
import { tableOf } from '../table.ts';

const IN_FLIGHT = 32;
const SIZES = { '1 KB': 1024, '100 KB': 102_400 } as const;
type Size = keyof typeof SIZES;

interface Runtimes {
  readonly off: BenchRuntime;
  readonly normal: BenchRuntime;
  readonly full: BenchRuntime;
}

export const kernel: Group = {
  name: 'kernel',
  summary: 'a governed call in process against the same work without the runtime',
  async run(options) {
    const runtimes = await openRuntimes();
    try {
      return await measureAll(runtimes, options);
    } finally {
      for (const runtime of Object.values(runtimes)) await runtime.dispose();
    }
  },
};

async function openRuntimes(): Promise<Runtimes> {
  const files = { '1 KB': sourceText(SIZES['1 KB']), '100 KB': sourceText(SIZES['100 KB']) };
  return {
    off: await openBenchRuntime({ journal: noJournal(), files }),
    normal: await openBenchRuntime({ durability: 'normal', files }),
    full: await openBenchRuntime({ durability: 'full', files }),
  };
}

async function measureAll(runtimes: Runtimes, options: GroupOptions): Promise<GroupReport> {
  const plan = callPlan(options);
  const calls = await compare(callCases(runtimes), plan);
  const crowd = await compare(crowdCases(runtimes), plan);
  const small = await compare(fileCases(runtimes, '1 KB'), plan);
  const large = await compare(fileCases(runtimes, '100 KB'), plan);
  const names = (cases: Comparison, part: string): string[] =>
    [...cases.cases.keys()].filter((name) => name.includes(part));
  const readPeers = ['read: fs.promises.readFile + sha256', 'read: readFileSync + sha256'];
  const writePeers = ['write: fs.promises.writeFile', 'write: fs.promises temporary file + rename'];
  return {
    tables: [
      tableOf(calls, { title: 'One call at a time', peers: [FLOOR], names: names(calls, '') }),
      tableOf(crowd, { title: `${IN_FLIGHT} calls in flight`, peers: [FLOOR], names: names(crowd, '') }),
      tableOf(small, { title: 'Read 1 KB', peers: readPeers, names: names(small, 'read: ') }),
      tableOf(large, { title: 'Read 100 KB', peers: readPeers, names: names(large, 'read: ') }),
      tableOf(small, { title: 'Write 1 KB', peers: writePeers, names: names(small, 'write: ') }),
      tableOf(large, { title: 'Write 100 KB', peers: writePeers, names: names(large, 'write: ') }),
    ],
    budgets: budgetsOf(calls, small),
  };
}

function budgetsOf(calls: Comparison, small: Comparison): readonly Budget[] {
  return [
    {
      name: 'fixed cost of a call, no I/O, no journal',
      atMost: 10,
      unit: 'µs',
      ...microsOf(calls, 'call, no journal'),
    },
    {
      name: 'journaled file_read 1 KB, times faster than fs.promises.readFile + sha256',
      atLeast: 2,
      unit: 'x',
      ...timesFaster(small, 'read: file_read, journal normal', 'read: fs.promises.readFile + sha256'),
    },
  ];
}

const FLOOR = 'awaited async function';

function callCases({ off, normal, full }: Runtimes): Case[] {
  return [
    { name: FLOOR, run: inSequence(answerNothing) },
    { name: 'call, no journal', run: inSequence(() => callNothing(off)) },
    { name: 'call, journal normal', run: inSequence(() => callNothing(normal)) },
    { name: 'call, journal full', run: inSequence(() => callNothing(full)) },
  ];
}

function crowdCases({ off, normal, full }: Runtimes): Case[] {
  const crowd = (call: () => Promise<void>) => ({ unit: IN_FLIGHT, run: inFlight(IN_FLIGHT, call) });
  return [
    { name: FLOOR, ...crowd(answerNothing) },
    { name: 'call, no journal', ...crowd(() => callNothing(off)) },
    { name: 'call, journal normal', ...crowd(() => callNothing(normal)) },
    { name: 'call, journal full', ...crowd(() => callNothing(full)) },
  ];
}

async function answerNothing(): Promise<void> {}

function callNothing(runtime: BenchRuntime): Promise<void> {
  return runtime.call('no_operation', { text: 'nothing' });
}

function fileCases({ off, normal }: Runtimes, size: Size): Case[] {
  const file = join(off.workspace, size);
  const texts = [sourceText(SIZES[size]), sourceText(SIZES[size]).toUpperCase()];
  let turn = 0;
  // Never what is already there: a write that changes nothing may be skipped.
  const nextText = (): string => texts[turn++ % 2] ?? '';
  const written = `${file} written`;
  return [
    { name: 'read: fs.promises.readFile + sha256', run: inSequence(async () => digest(await readFile(file))) },
    { name: 'read: readFileSync + sha256', run: (calls) => readManySync(file, calls) },
    { name: 'read: file_read, no journal', run: inSequence(() => off.call('file_read', { path: size })) },
    { name: 'read: file_read, journal normal', run: inSequence(() => normal.call('file_read', { path: size })) },
    { name: 'write: fs.promises.writeFile', run: inSequence(() => writeFile(written, nextText())) },
    { name: 'write: fs.promises temporary file + rename', run: inSequence(() => replaceFile(written, nextText())) },
    { name: 'write: file_write, no journal', run: inSequence(() => writeGoverned(off, nextText())) },
    { name: 'write: file_write, journal normal', run: inSequence(() => writeGoverned(normal, nextText())) },
  ];
}

function readManySync(file: string, calls: number): void {
  for (let made = 0; made < calls; made++) digest(readFileSync(file));
}

function digest(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}

async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.temporary`;
  await writeFile(temporary, text);
  await rename(temporary, file);
}

function writeGoverned(runtime: BenchRuntime, content: string): Promise<void> {
  return runtime.call('file_write', { path: 'written', content });
}

/** Lines like those of a program, exactly `bytes` long. */
function sourceText(bytes: number): string {
  const line = 'export function measure(values: readonly number[]): number { return 1; }\n';
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}
