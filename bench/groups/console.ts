/**
 * The console in a real Chromium: first paint, time from an event to its pixel at 500 events a second, memory after 100,000
 * rows, and what ten open consoles cost the host.
 *
 * The cost is the processor time of the host for a call, with ten consoles and without, taking turns: the browser runs on
 * the same machine here, and its own work is not what a host pays for. What pages ask for after the calls counts too.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHostClient, type HostClient } from '@tool-runtime/protocol/client';
import type { Page } from 'playwright-core';
import { writeLongJournal } from '../../test/console/long-journal.ts';
import { openBrowser, type TestBrowser } from '../../test/console/open-browser.ts';
import type { Budget } from '../budget.ts';
import type { Group, GroupOptions, GroupReport } from '../group.ts';
import { type Estimate, estimateOf, inFlight, quantile } from '../measure.ts';
import type { Table } from '../table.ts';
import { requestWriter } from '../wire/request-text.ts';
import { connectLines } from '../wire/wire-client.ts';
import { type HostProcess, startHostProcess } from '../wire/wire-servers.ts';

const FILE = 'small.txt';
const CONSOLES = 10;
const RECORDS = 100_000;
const EVENTS_PER_SECOND = 500;
/** Requested, decided, intended, done. */
const RECORDS_PER_CALL = 4;
const IN_FLIGHT = 32;
/** Longer than pages wait for it to be quiet before they ask for what went by too fast. */
const AFTER_MS = 2500;

export const consolePages: Group = {
  name: 'console',
  summary: 'what a person waits for, memory after 100,000 rows, and what ten open consoles cost the host',
  async run(options) {
    const scratch = mkdtempSync(join(tmpdir(), 'tool-runtime-bench-console-'));
    try {
      return reportOf({
        paints: await inHost(scratch, 'paint', (host) => firstPaints(host, options)),
        pixels: await inHost(scratch, 'pixel', (host) => eventToPixel(host, options)),
        heap: await memoryAfterScrolling(scratch, options),
        cost: await costOfConsoles(scratch, options),
      });
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  },
};

async function openHost(scratch: string, name: string): Promise<HostProcess> {
  const workspace = join(scratch, name);
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, FILE), 'x'.repeat(1023).concat('\n'));
  return startHostProcess({ workspace, state: join(scratch, `${name}-state`) });
}

async function inHost<Result>(
  scratch: string,
  name: string,
  use: (host: HostProcess) => Promise<Result>,
): Promise<Result> {
  const host = await openHost(scratch, name);
  try {
    return await use(host);
  } finally {
    host.kill();
  }
}

const clientOf = ({ url, token }: HostProcess): HostClient => createHostClient({ url, token });

async function openConsole(browser: TestBrowser, host: HostProcess, isElsewhere = false): Promise<Page> {
  const { path } = await clientOf(host).consoleLink({ role: 'approver' });
  const address = `${host.url}${path}`;
  const page = isElsewhere ? await browser.openElsewhere(address) : await browser.open(address);
  await page.getByText('live', { exact: true }).waitFor();
  return page;
}

/** Milliseconds from the navigation to the first content, in a fresh page with an empty cache each time. */
async function firstPaints(host: HostProcess, { quick }: GroupOptions): Promise<readonly number[]> {
  const paints: number[] = [];
  for (let round = 0; round < (quick ? 1 : 5); round += 1) {
    await using browser = await openBrowser({ home: host.url });
    const page = await openConsole(browser, host);
    paints.push(
      Number(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")),
    );
  }
  return paints;
}

/** Calls that put so many events on record, until `ended` says so; resolves with how many there were in a second. */
async function makeEvents(host: HostProcess, ended: () => boolean): Promise<number> {
  const client = await connectLines(host.socket, { isGreeted: true });
  const write = requestWriter(client.sessionId, FILE);
  const before = (await clientOf(host).journal()).head.seq;
  const began = performance.now();
  let calls = 0;
  while (!ended()) {
    const wanted = ((performance.now() - began) / 1000) * (EVENTS_PER_SECOND / RECORDS_PER_CALL);
    for (; calls < wanted; calls += 1) void client.ask(`load-${calls}`, write(`load-${calls}`));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const perSecond = ((await clientOf(host).journal()).head.seq - before) / ((performance.now() - began) / 1000);
  await client.close();
  return perSecond;
}

interface Pixels {
  readonly delays: readonly number[];
  readonly eventsPerSecond: number;
}

/** From the moment a call is sent to the frame in which its line is on the timeline. */
async function eventToPixel(host: HostProcess, { quick }: GroupOptions): Promise<Pixels> {
  await using browser = await openBrowser({ home: host.url });
  const page = await openConsole(browser, host);
  const client = clientOf(host);
  const { session_id } = await client.openSession({ client: { name: 'marker' } });
  let isOver = false;
  const load = makeEvents(host, () => isOver);
  const delays: number[] = [];
  for (let round = 0; round < (quick ? 2 : 20); round += 1) {
    const mark = `mark-${round}-${Date.now()}`;
    const seen = page.evaluate(`new Promise((resolve) => {
      const look = () => document.body.innerText.includes('${mark}')
        ? requestAnimationFrame(() => resolve(Date.now())) : requestAnimationFrame(look);
      look();
    })`);
    const sent = Date.now();
    await client.call(session_id, { tool: 'grep', args: { pattern: mark, path: '.' } });
    delays.push(Number(await seen) - sent);
  }
  isOver = true;
  return { delays, eventsPerSecond: await load };
}

/** JavaScript heap of the page in bytes after all rows were scrolled past, as the browser counts it after a collection. */
async function memoryAfterScrolling(scratch: string, { quick }: GroupOptions): Promise<number> {
  const records = quick ? 2000 : RECORDS;
  await writeLongJournal(join(scratch, 'long-state'), records);
  return inHost(scratch, 'long', async (host) => {
    await using browser = await openBrowser({ home: host.url });
    const page = await openConsole(browser, host);
    await page.goto(`${host.url}/#/journal`);
    const list = page.getByRole('list', { name: 'Records' });
    await list.waitFor();
    const steps = quick ? 3 : 100;
    for (let step = 0; step <= steps; step += 1) {
      await list.evaluate((element, share) => {
        const place = element as unknown as { scrollTop: number; readonly scrollHeight: number };
        place.scrollTop = place.scrollHeight * share;
      }, step / steps);
      while ((await page.locator('.row').count()) === 0 || (await page.locator('.row-loading').count()) > 0) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
    const session = await page.context().newCDPSession(page);
    await session.send('HeapProfiler.collectGarbage');
    return Number(((await session.send('Runtime.getHeapUsage')) as { usedSize: number }).usedSize);
  });
}

interface Cost {
  readonly ratio: Estimate;
  readonly alone: readonly number[];
  readonly watched: readonly number[];
}

/** Two hosts, the same calls to each in turns; ten consoles show the timeline of one of them. */
async function costOfConsoles(scratch: string, { quick }: GroupOptions): Promise<Cost> {
  return inHost(scratch, 'alone', (alone) =>
    inHost(scratch, 'watched', async (watched) => {
      await using browser = await openBrowser({ home: watched.url });
      for (let at = 0; at < (quick ? 2 : CONSOLES); at += 1) await openConsole(browser, watched, true);
      const calls = quick ? 64 : 32_768;
      const cases = [await callerOf(alone, calls), await callerOf(watched, calls)] as const;
      const micros: [number[], number[]] = [[], []];
      const rounds = quick ? 1 : 10;
      for (let round = -1; round < rounds; round += 1) {
        for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) {
          const took = await cases[at === 0 ? 0 : 1]();
          // The first round is the warm-up.
          if (round >= 0) micros[at === 0 ? 0 : 1].push(took);
        }
      }
      const ratio = estimateOf(micros[1].map((took, round) => took / (micros[0][round] ?? Number.NaN)));
      return { ratio, alone: micros[0], watched: micros[1] };
    }),
  );
}

/** Makes calls and answers with the microseconds of processor time that the host spent on each. */
async function callerOf(host: HostProcess, calls: number): Promise<() => Promise<number>> {
  const client = await connectLines(host.socket, { isGreeted: true });
  const write = requestWriter(client.sessionId, FILE);
  let count = 0;
  const run = inFlight(IN_FLIGHT, async () => {
    const id = `call-${++count}`;
    const answer = await client.ask(id, write(id));
    if (!answer.includes('"ok":true')) throw new TypeError(`The benchmark was refused: ${answer.slice(0, 300)}`);
  });
  return async () => {
    const before = processorMicros(host.pid);
    await run(calls);
    await new Promise((resolve) => setTimeout(resolve, AFTER_MS));
    return (processorMicros(host.pid) - before) / calls;
  };
}

/** Of all threads, which the kernel counts in nanoseconds. What it counts for the process has steps of ten milliseconds. */
function processorMicros(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  return readdirSync(tasks).reduce((sum, task) => sum + nanosOf(join(tasks, task, 'schedstat')) / 1000, 0);
}

/** A thread that has just ended counts no more. */
function nanosOf(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0]);
  } catch {
    return 0;
  }
}

interface Figures {
  readonly paints: readonly number[];
  readonly pixels: Pixels;
  readonly heap: number;
  readonly cost: Cost;
}

function reportOf({ paints, pixels, heap, cost }: Figures): GroupReport {
  const row = (name: string, micros: readonly number[], ratios: readonly number[] = []) => ({
    name,
    medianMicros: quantile(micros, 0.5),
    bestMicros: Math.min(...micros),
    p99Micros: quantile(micros, 0.99),
    perSecond: 1e6 / quantile(micros, 0.5),
    ratios,
  });
  const micros = (values: readonly number[]): readonly number[] => values.map((ms) => ms * 1000);
  const [alone, watched] = ['host without consoles, processor time of a call', `host with ${CONSOLES} open consoles`];
  const tables: Table[] = [
    {
      title: 'What a person waits for',
      peers: [],
      note: `${Math.round(pixels.eventsPerSecond)} events a second while events were timed`,
      rows: [row('first paint', micros(paints)), row('event to pixel', micros(pixels.delays))],
    },
    {
      title: 'What open consoles cost the host',
      peers: [alone],
      rows: [row(alone, cost.alone, [1]), row(watched, cost.watched, [cost.ratio.measured])],
    },
  ];
  const budgets: Budget[] = [
    { name: 'first paint', atMost: 500, unit: 'ms', ...estimateOf(paints) },
    {
      name: `event to pixel at ${EVENTS_PER_SECOND} events/s`,
      atMost: 400,
      unit: 'ms',
      ...estimateOf(pixels.delays),
    },
    { name: 'heap of the page after 100,000 rows', atMost: 64, unit: 'MiB', measured: heap / 1024 / 1024 },
    { name: `host with ${CONSOLES} consoles: times without`, atMost: 1.05, unit: 'x', ...cost.ratio },
  ];
  return { tables, budgets };
}
