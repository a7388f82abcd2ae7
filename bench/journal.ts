/**
 * What the journal adds to a call: three records before it (requested, decision, intent) and one after (result), or all
 * four together for a call that only reads.
 *
 * Runs alone with `node -C tool-runtime-source bench/journal.ts`. Figures are medians over rounds, so that a round in
 * which the disk was waited for shows in p99 and in the mean, not in the middle.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JournalRecord, JournalStore } from '../packages/sdk/src/contracts/journal.ts';
import { createArgsHasher, createArgsSummarizer } from '../packages/sdk/src/journal/recorded-args.ts';
import { createMemoryJournal } from '../packages/sdk/src/journal/store/journal-memory.ts';
import { openSqliteJournal } from '../packages/sdk/src/journal/store/journal-sqlite.ts';
import { openStateFolder } from '../packages/sdk/src/platform/state/state-folder.ts';
import { createRedactor } from '../packages/sdk/src/redaction/redactor.ts';

export interface Row {
  readonly name: string;
  readonly microsPerCall: number;
  readonly p99Micros?: number;
  /** Medians of consecutive parts of the run. */
  readonly rounds?: readonly number[];
}

const ARGS_HASH = `hmac-sha256:${'5b'.repeat(32)}`;

type Kind = 'call' | 'read';

/** The records of a write and of a read differ in size, and the journal keeps those of a read in one line. */
const OF_KIND = {
  call: { tool: 'file_write', summary: 'path="src/index.ts" content=<1834 bytes>', retrySafe: false },
  read: { tool: 'file_read', summary: 'path="src/index.ts"', retrySafe: true },
} as const;
const CHANGED = [{ path: 'src/index.ts', before: 'a1'.repeat(32), after: 'b2'.repeat(32) }];

function admission(callId: string, kind: Kind): readonly JournalRecord[] {
  const { tool, summary, retrySafe } = OF_KIND[kind];
  const call = { call_id: callId, session_id: 'session-1b2c3d4e', at_ms: 1_760_000_000_000 };
  return [
    {
      kind: 'requested',
      ...call,
      request_id: `request-${callId}`,
      tool,
      args_hash: ARGS_HASH,
      args_summary: summary,
      actor: 'local',
      client: 'bench/1',
    },
    { kind: 'decision', ...call, outcome: 'allow', gate: 'policy', code: 'allowed' },
    {
      kind: 'intent',
      ...call,
      tool,
      args_hash: ARGS_HASH,
      retry_safe: retrySafe,
      instance: '3f0f9c3e-3a9c-4b6e-9c5d-2f1f5b6a7c8d',
      effect: { effect_id: `effect.${callId}`, kind: 'tool_execution' },
    },
  ];
}

function outcome(callId: string, kind: Kind): readonly JournalRecord[] {
  return [
    {
      kind: 'result',
      call_id: callId,
      session_id: 'session-1b2c3d4e',
      at_ms: 1_760_000_000_001,
      tool: OF_KIND[kind].tool,
      args_hash: ARGS_HASH,
      status: 'completed',
      start_ts: 1_760_000_000_000,
      end_ts: 1_760_000_000_001,
      duration_ms: 0.8,
      bytes: 1834,
      files: kind === 'read' ? [] : CHANGED,
      errors: [],
      effect: { effect_id: `effect.${callId}` },
    },
  ];
}

type OneCall = (journal: JournalStore, callId: string) => Promise<void>;

const CALLS: Readonly<Record<Kind, OneCall>> = {
  async call(journal, callId) {
    await journal.append(admission(callId, 'call'));
    await journal.append(outcome(callId, 'call'));
  },
  async read(journal, callId) {
    await journal.append([...admission(callId, 'read'), ...outcome(callId, 'read')]);
  },
};

interface Load {
  readonly of: keyof typeof CALLS;
  readonly calls: number;
  readonly inFlight: number;
}

/** Time per call of each round of `inFlight` calls, in microseconds, as they came. */
async function measure(journal: JournalStore, { of, calls, inFlight }: Load): Promise<Float64Array> {
  const oneCall = CALLS[of];
  const rounds = Math.floor(calls / inFlight);
  const micros = new Float64Array(rounds);
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    if (inFlight === 1) await oneCall(journal, `call-${round}-0b1c2d3e4f`);
    else
      await Promise.all(Array.from({ length: inFlight }, (_, at) => oneCall(journal, `call-${round}-${at}-0b1c2d3e`)));
    micros[round] = ((performance.now() - started) * 1000) / inFlight;
  }
  return micros;
}

function rows(name: string, micros: Float64Array): readonly Row[] {
  const mean = micros.reduce((sum, value) => sum + value, 0) / micros.length;
  const sorted = micros.toSorted();
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
  return [
    { name, microsPerCall: at(0.5), p99Micros: at(0.99), rounds: partsOf(micros) },
    { name: `${name}, mean`, microsPerCall: mean },
  ];
}

const PARTS = 12;

function partsOf(micros: Float64Array): readonly number[] {
  const size = Math.ceil(micros.length / PARTS);
  return Array.from({ length: Math.ceil(micros.length / size) }, (_, part) => {
    const sorted = micros.slice(part * size, (part + 1) * size).sort();
    return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  });
}

async function storeRows(name: string, open: () => JournalStore, load: Load): Promise<readonly Row[]> {
  const journal = open();
  await measure(journal, { ...load, calls: Math.min(load.calls, 2000) });
  const title = `journal ${name}${load.of === 'read' ? ', read' : ''}, ${load.inFlight} in flight`;
  const measured = rows(title, await measure(journal, load));
  await journal.close();
  return measured;
}

function verifyRow(journal: JournalStore): Row {
  const rounds = Array.from({ length: 5 }, () => {
    const started = performance.now();
    const { ok, records } = journal.verify();
    if (!ok) throw new TypeError('The journal of the benchmark does not verify');
    return ((performance.now() - started) * 1000) / records;
  });
  const [, , middle = Number.NaN] = rounds.toSorted((one, other) => one - other);
  return { name: 'journal verify, per record', microsPerCall: middle, rounds };
}

function perOperation(name: string, operation: () => unknown): Row {
  const batches = new Float64Array(200);
  for (let batch = -50; batch < batches.length; batch++) {
    const started = performance.now();
    for (let turn = 0; turn < 200; turn++) operation();
    if (batch >= 0) batches[batch] = ((performance.now() - started) * 1000) / 200;
  }
  batches.sort();
  return { name, microsPerCall: batches[100] ?? 0, p99Micros: batches[198] ?? 0 };
}

function argumentRows(): readonly Row[] {
  const args = {
    path: 'packages/sdk/src/index.ts',
    content: 'export const answer = 42;\n'.repeat(40),
    create_dirs: true,
  };
  const hash = createArgsHasher(Buffer.alloc(32, 7));
  const redactor = createRedactor({ secrets: ['correct-horse-battery', 'hunter2hunter2'] });
  const summarize = createArgsSummarizer(redactor);
  return [
    perOperation('args hash, 1 kB of arguments', () => hash('file_write', args)),
    perOperation('args hash, one path', () => hash('file_read', { path: args.path })),
    perOperation('args summary', () => summarize(args, ['content'])),
    perOperation('redact 1 kB without secrets', () => redactor.redactText(args.content)),
  ];
}

/** `share` scales the number of calls down, to see that it runs. */
export async function journalBench({ share = 1 }: { readonly share?: number } = {}): Promise<Row[]> {
  const load = (calls: number, inFlight: number, of: Load['of'] = 'call'): Load => {
    return { of, calls: Math.max(inFlight, Math.floor(calls * share)), inFlight };
  };
  const folder = mkdtempSync(join(tmpdir(), 'journal-bench-'));
  const state = (name: string) => openStateFolder(join(folder, name));
  try {
    const normal = () => openSqliteJournal(state('normal'));
    const full = () => openSqliteJournal(state('full'), { durability: 'full' });
    const measured = [
      ...(await storeRows('normal', normal, load(20_000, 1))),
      ...(await storeRows('normal', normal, load(64_000, 32))),
      ...(await storeRows('normal', normal, load(20_000, 1, 'read'))),
      ...(await storeRows('normal', normal, load(64_000, 32, 'read'))),
      ...(await storeRows('full', full, load(2000, 1))),
      ...(await storeRows('full', full, load(32_000, 32))),
      ...(await storeRows('full', full, load(32_000, 32, 'read'))),
      ...(await storeRows('memory', createMemoryJournal, load(20_000, 1))),
      ...(await storeRows('memory', createMemoryJournal, load(64_000, 32))),
    ];
    const written = normal();
    measured.push(verifyRow(written), ...argumentRows());
    await written.close();
    return measured;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  for (const { name, microsPerCall, p99Micros } of await journalBench()) {
    const tail = p99Micros === undefined ? '' : `p99 ${p99Micros.toFixed(2)}`;
    console.log(`${name.padEnd(44)} ${microsPerCall.toFixed(2).padStart(9)} µs  ${tail}`);
  }
}
