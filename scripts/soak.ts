/**
 * npm run soak [-- --sessions 1000 --in-flight 64 --minutes 10 --out bench/results/soak]: does the memory of a host stay level?
 *
 * Varied calls over all transports, as in `npm run load`. Every few seconds the size of the process and what it holds
 * after a collection are noted in `memory.csv` and drawn in `memory.svg`. Ends with 1 when what it holds in the last
 * quarter is more than a tenth above what it held when the first half was over, or when anything else is wrong.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runLoad } from '../packages/host/test/load/run-load.ts';
import type { ServeProcess } from '../packages/host/test/load/serve-process.ts';
import { printLoad, printProblems } from './load/print-report.ts';
import { drawMemory, type MemorySample } from './soak/draw-memory.ts';
import { judgeLevel } from './soak/judge-level.ts';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '1000' },
    'in-flight': { type: 'string', default: '64' },
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    out: { type: 'string', default: 'bench/results/soak' },
  },
});
const seconds = Number(values.minutes) * 60;
const samples: MemorySample[] = [];

try {
  const report = await runLoad({
    sessions: Number(values.sessions),
    inFlight: Number(values['in-flight']),
    seconds,
    seed: Number(values.seed),
    beside: sampleMemory,
  });
  printLoad(report);
  process.exitCode = printProblems(report.problems);
} finally {
  // Also of a run that failed: the chart may say why.
  writeChart();
}

function writeChart(): void {
  mkdirSync(values.out, { recursive: true });
  const rows = samples.map((sample) => [sample.seconds.toFixed(1), sample.processBytes, sample.heldBytes].join(','));
  writeFileSync(join(values.out, 'memory.csv'), ['seconds,process_bytes,held_bytes', ...rows, ''].join('\n'));
  writeFileSync(join(values.out, 'memory.svg'), drawMemory(samples));
  const level = judgeLevel(samples.map(({ heldBytes }) => heldBytes));
  console.log(`held: ${level.said}; ${values.out}/memory.csv, ${values.out}/memory.svg`);
  if (!level.isLevel) process.exitCode = 1;
}

/** Forty times in all, so that collecting does not become the load. */
async function sampleMemory(serve: ServeProcess, isOver: () => boolean): Promise<void> {
  const began = performance.now();
  while (!isOver()) {
    const heldBytes = await serve.liveBytes();
    const { memory_bytes: processBytes } = await serve.status();
    samples.push({ seconds: (performance.now() - began) / 1000, processBytes, heldBytes });
    await wait((seconds * 1000) / 40);
  }
}
