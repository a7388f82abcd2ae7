/**
 * What recording a call costs (three records before it and one after, or four at once for a read) and how fast a journal
 * is verified.
 *
 * FULL waits for the disk twice a call, so a bare double wait on the same disk is measured beside it.
 */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Budget } from '../budget.ts';
import type { Group } from '../group.ts';
import { journalBench, type Row } from '../journal.ts';
import { estimateOf } from '../measure.ts';
import type { Table } from '../table.ts';

/** Requested, decision, intent, result. */
const RECORDS_PER_CALL = 4;
const BLOCK_BYTES = 4096;

export const journal: Group = {
  name: 'journal',
  summary: 'recording and verifying calls, without the calls',
  async run({ quick }) {
    const rows = await journalBench({ share: quick ? 0.002 : 1 });
    const isPerCall = ({ name }: Row): boolean => name.includes('in flight');
    const wait = diskWaitRow(quick ? 3 : 200);
    return {
      tables: [
        microsTable('Recording, per call', [...rows.filter(isPerCall), wait], wait),
        microsTable(
          'Parts, per operation',
          rows.filter((row) => !isPerCall(row)),
        ),
        recordsTable(rows),
      ],
      budgets: budgetsOf(rows),
    };
  },
};

function budgetsOf(rows: readonly Row[]): readonly Budget[] {
  const micros = (name: string, atMost: number): Budget => {
    const { microsPerCall: measured, rounds = [] } = rowOf(rows, name);
    return { name: `${name}, per call`, atMost, unit: 'µs', measured, rounds };
  };
  return [
    micros('journal normal, 1 in flight', 25),
    micros('journal normal, 32 in flight', 8),
    micros('journal full, 32 in flight', 25),
    micros('journal normal, read, 1 in flight', 10),
    micros('journal normal, read, 32 in flight', 4),
    micros('journal full, read, 32 in flight', 20),
    {
      name: 'journal verify',
      atLeast: 200_000,
      unit: 'records/s',
      ...estimateOf((rowOf(rows, 'journal verify, per record').rounds ?? []).map((micros) => 1e6 / micros)),
    },
  ];
}

function rowOf(rows: readonly Row[], name: string): Row {
  const row = rows.find((one) => one.name === name);
  if (row === undefined) throw new TypeError(`The journal benchmark has no such row: ${name}`);
  return row;
}

function microsTable(title: string, rows: readonly Row[], peer?: Row): Table {
  return {
    title,
    peers: peer === undefined ? [] : [peer.name],
    rows: rows.map(({ name, microsPerCall, p99Micros }) => ({
      name,
      medianMicros: microsPerCall,
      ...(p99Micros === undefined ? {} : { p99Micros }),
      perSecond: 1e6 / microsPerCall,
      ratios: peer === undefined ? [] : [microsPerCall / peer.microsPerCall],
    })),
  };
}

function recordsTable(rows: readonly Row[]): Table {
  const names = ['normal', 'full'].flatMap((level) => [1, 32].map((width) => `journal ${level}, ${width} in flight`));
  const perRecord = names.map((name) => ({
    name,
    microsPerCall: rowOf(rows, name).microsPerCall / RECORDS_PER_CALL,
  }));
  return microsTable('Recording, per record', [...perRecord, rowOf(rows, 'journal verify, per record')]);
}

/** Two waits for the disk, each after one new block: the least a call at FULL can do. */
function diskWaitRow(count: number): Row {
  const folder = mkdtempSync(join(tmpdir(), 'disk-wait-'));
  const file = openSync(join(folder, 'blocks'), 'w');
  const block = Buffer.alloc(BLOCK_BYTES, 'x');
  const micros: number[] = [];
  try {
    for (let turn = 0; turn < count; turn++) {
      const started = performance.now();
      for (let wait = 0; wait < 2; wait++) {
        writeSync(file, block);
        fdatasyncSync(file);
      }
      micros.push((performance.now() - started) * 1000);
    }
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
  micros.sort((one, other) => one - other);
  const at = (share: number): number => micros[Math.floor(micros.length * share)] ?? Number.NaN;
  return { name: 'two bare fdatasyncs', microsPerCall: at(0.5), p99Micros: at(0.99) };
}
