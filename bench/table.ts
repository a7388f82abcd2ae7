/** Tables of figures: what a group answers with, and how it looks in a terminal. The same value goes to the JSON file. */
import { type Comparison, measuredOf, ratioOf } from './measure.ts';

export interface TableRow {
  readonly name: string;
  /** Or the count, where the table counts. */
  readonly medianMicros: number;
  /** The median of the round that was disturbed least. */
  readonly bestMicros?: number;
  readonly p99Micros?: number;
  readonly perSecond: number;
  /** Time divided by the time of each peer, in the order of the table's peers. */
  readonly ratios: readonly number[];
}

export interface Table {
  readonly title: string;
  readonly peers: readonly string[];
  readonly rows: readonly TableRow[];
  /** What is counted in place of time. */
  readonly counts?: 'tokens';
  /** How much of it was measured on an otherwise idle machine, and the like. */
  readonly note?: string;
}

export interface TableView {
  readonly title: string;
  /** Rows the others are divided by: the floor, or the usual way of doing it. */
  readonly peers: readonly string[];
  readonly names: readonly string[];
}

/** Some cases of a comparison, side by side. */
export function tableOf(comparison: Comparison, { title, peers, names }: TableView): Table {
  return {
    title,
    peers,
    note: `${comparison.rounds} rounds, ${comparison.quietRounds} of them begun on a quiet machine`,
    rows: names.map((name) => {
      const { medianMicros, p99Micros, roundMicros } = measuredOf(comparison.cases, name);
      const bestMicros = Math.min(...roundMicros);
      const ratios = peers.map((peer) => ratioOf(comparison, name, peer));
      return { name, medianMicros, bestMicros, p99Micros, perSecond: 1e6 / medianMicros, ratios };
    }),
  };
}

export function formatTable({ title, peers, rows, counts, note }: Table): string {
  const marks = peers.map((_, at) => `/ ${String.fromCharCode(97 + at)}`);
  const header = counts === undefined ? ['', 'median', 'best', 'p99', 'per second', ...marks] : ['', counts, ...marks];
  const body = rows.map((row) => [
    markedName(row.name, peers),
    ...(counts === undefined ? times(row) : [row.medianMicros.toLocaleString('en')]),
    ...row.ratios.map((ratio) => `${ratio < 100 ? ratio.toPrecision(3) : Math.round(ratio)}x`),
  ]);
  return [title, ...alignColumns([header, ...body]), ...(note === undefined ? [] : [`  (${note})`])].join('\n');
}

function times({ medianMicros, bestMicros, p99Micros, perSecond }: TableRow): readonly string[] {
  const perSecondText = Math.round(perSecond).toLocaleString('en');
  return [formatMicros(medianMicros), formatMicros(bestMicros), formatMicros(p99Micros), perSecondText];
}

/** The first column to the left, figures to the right. */
export function alignColumns(cells: readonly (readonly string[])[]): string[] {
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells.map((row) => {
    const padded = row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)));
    return `  ${padded.join('  ')}`.trimEnd();
  });
}

function markedName(name: string, peers: readonly string[]): string {
  const at = peers.indexOf(name);
  return at < 0 ? name : `${name} (${String.fromCharCode(97 + at)})`;
}

function formatMicros(micros: number | undefined): string {
  if (micros === undefined) return '';
  if (micros < 1000) return `${micros.toFixed(2)} µs`;
  return `${(micros / 1000).toFixed(2)} ms`;
}
