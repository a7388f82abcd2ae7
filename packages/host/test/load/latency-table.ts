/** Times of calls by kind and transport. Printed, never judged: the machine decides, and it is shared. */
import type { SentCall } from './call-book.ts';

export interface LatencyRow {
  readonly kind: string;
  readonly transport: string;
  readonly calls: number;
  readonly p50Millis: number;
  readonly p99Millis: number;
}

export function latencyRows(calls: Iterable<SentCall>): readonly LatencyRow[] {
  const groups = new Map<string, { kind: string; transport: string; millis: number[] }>();
  for (const { plan, transport, millis } of calls) {
    if (millis === undefined) continue;
    for (const [kind, way] of [
      [plan.kind, transport],
      ['all', transport],
      ['all', 'all'],
    ] as const) {
      const name = `${kind} ${way}`;
      const group = groups.get(name) ?? { kind, transport: way, millis: [] };
      group.millis.push(millis);
      groups.set(name, group);
    }
  }
  return [...groups.values()].map(toRow).toSorted((one, other) => order(one).localeCompare(order(other)));
}

function toRow({ kind, transport, millis }: { kind: string; transport: string; millis: number[] }): LatencyRow {
  const sorted = Float64Array.from(millis).sort();
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { kind, transport, calls: sorted.length, p50Millis: at(0.5), p99Millis: at(0.99) };
}

/** The sums last. */
function order({ kind, transport }: LatencyRow): string {
  return `${kind === 'all' ? '~' : ''}${kind} ${transport === 'all' ? '~' : ''}${transport}`;
}
