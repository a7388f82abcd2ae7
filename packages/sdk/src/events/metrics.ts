/** Running totals per tool and session: counted on the call path, read by whoever asks. */

export interface CallMeasure {
  readonly sessionId: string;
  readonly tool: string;
  readonly ok: boolean;
  readonly errorCode?: string;
  readonly durationMs: number;
  readonly bytes: number;
  readonly filesTouched: number;
}

export interface ToolTotals {
  calls: number;
  errors: number;
  durationMs: number;
  maxDurationMs: number;
  bytes: number;
  filesTouched: number;
  errorCodes: Record<string, number>;
}

export interface Metrics {
  count(measure: CallMeasure): void;
  /** Totals by tool, for one session or for all. A copy: later calls do not change it. */
  totals(sessionId?: string): Readonly<Record<string, Readonly<ToolTotals>>>;
  forget(sessionId: string): void;
}

const ALL = '';

export function createMetrics(): Metrics {
  const scopes = new Map<string, Map<string, ToolTotals>>();
  return {
    count(measure) {
      add(scopes, ALL, measure);
      add(scopes, measure.sessionId, measure);
    },
    totals: (sessionId = ALL) => structuredClone(Object.fromEntries(scopes.get(sessionId) ?? [])),
    forget: (sessionId) => {
      scopes.delete(sessionId);
    },
  };
}

function add(scopes: Map<string, Map<string, ToolTotals>>, scope: string, measure: CallMeasure): void {
  const tools = at(scopes, scope, () => new Map<string, ToolTotals>());
  const totals = at(tools, measure.tool, emptyTotals);
  totals.calls += 1;
  totals.durationMs += measure.durationMs;
  totals.maxDurationMs = Math.max(totals.maxDurationMs, measure.durationMs);
  totals.bytes += measure.bytes;
  totals.filesTouched += measure.filesTouched;
  if (measure.ok) return;
  totals.errors += 1;
  const code = measure.errorCode ?? 'E_INTERNAL';
  totals.errorCodes[code] = (totals.errorCodes[code] ?? 0) + 1;
}

function at<Value>(map: Map<string, Value>, key: string, create: () => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = create();
  map.set(key, made);
  return made;
}

function emptyTotals(): ToolTotals {
  return { calls: 0, errors: 0, durationMs: 0, maxDurationMs: 0, bytes: 0, filesTouched: 0, errorCodes: {} };
}
