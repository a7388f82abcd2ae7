/**
 * What a server found wrong with files, as it pushes it.
 *
 * A report for an older version of a document than the one we sent last is dropped: it is about a text that no longer
 * exists. A change of any file forgets what was known of all. The server's own objects are kept, because its quick
 * fixes want them back.
 */
import { z } from 'zod';
import { diagnosticShape, flatRange, type TextRange } from './answer-shapes.ts';
import type { WorkspaceUris } from './workspace-uris.ts';

export interface Diagnostic extends TextRange {
  readonly severity: 'error' | 'warning' | 'information' | 'hint';
  readonly message: string;
  readonly code?: string;
  readonly source?: string;
}

const SEVERITIES = ['error', 'warning', 'information', 'hint'] as const;
const MAX_FILES = 500;

const pushed = z.object({ uri: z.string(), version: z.int().nullish(), diagnostics: z.array(z.unknown()) });

export class DiagnosticStore {
  readonly #uris: WorkspaceUris;
  readonly #versionOf: (path: string) => number | undefined;
  readonly #now: () => number;
  readonly #reports = new Map<string, { readonly items: readonly unknown[]; readonly at: number }>();
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(uris: WorkspaceUris, versionOf: (path: string) => number | undefined, now = () => performance.now()) {
    this.#now = now;
    this.#uris = uris;
    this.#versionOf = versionOf;
  }

  /** Takes a report in. Answers whether it was used. */
  accept(params: unknown): boolean {
    const report = pushed.safeParse(params);
    const path = report.success ? this.#uris.toPath(report.data.uri) : null;
    if (!report.success || path === null) return false;
    const ours = this.#versionOf(path);
    const { version } = report.data;
    if (typeof version === 'number' && ours !== undefined && version < ours) return false;
    this.#put(path, report.data.diagnostics);
    for (const wake of this.#waiting.get(path) ?? []) wake();
    return true;
  }

  forget(path: string): void {
    this.#reports.delete(path);
  }

  forgetAll(): void {
    this.#reports.clear();
  }

  /** As the server sent them; undefined when there was no report since the last change. */
  raw(path: string): readonly unknown[] | undefined {
    return this.#reports.get(path)?.items;
  }

  /** Milliseconds since the last report, if there was one since the last change. */
  ageOf(path: string): number | undefined {
    const at = this.#reports.get(path)?.at;
    return at === undefined ? undefined : this.#now() - at;
  }

  /** Calls `wake` at every report for the file, until taken back. */
  watch(path: string, wake: () => void): () => void {
    const watchers = this.#waiting.get(path) ?? new Set();
    this.#waiting.set(path, watchers.add(wake));
    return () => {
      watchers.delete(wake);
      if (watchers.size === 0) this.#waiting.delete(path);
    };
  }

  #put(path: string, items: readonly unknown[]): void {
    this.#reports.delete(path);
    this.#reports.set(path, { items, at: this.#now() });
    const [oldest] = this.#reports.keys();
    if (this.#reports.size > MAX_FILES && oldest !== undefined) this.#reports.delete(oldest);
  }
}

/** Items that are no diagnostics are left out: the rest is still worth having. */
export function readDiagnostics(items: readonly unknown[], uris: WorkspaceUris): readonly Diagnostic[] {
  return items.flatMap((item) => {
    const parsed = diagnosticShape.safeParse(item);
    if (!parsed.success) return [];
    const { range, severity, code, source, message } = parsed.data;
    return [
      {
        ...flatRange(range),
        severity: SEVERITIES[(severity ?? 1) - 1] ?? 'error',
        message: uris.hideIn(typeof message === 'string' ? message : message.value),
        ...(code === undefined ? {} : { code: uris.hideIn(String(code)) }),
        ...(source === undefined ? {} : { source: uris.hideIn(source) }),
      },
    ];
  });
}

/** Those of `after` that `before` does not have, however lines moved in between: equal ones are counted off. */
export function newDiagnostics(before: readonly Diagnostic[], after: readonly Diagnostic[]): readonly Diagnostic[] {
  const known = new Map<string, number>();
  for (const each of before) known.set(keyOf(each), (known.get(keyOf(each)) ?? 0) + 1);
  return after.filter((each) => {
    const left = known.get(keyOf(each)) ?? 0;
    known.set(keyOf(each), left - 1);
    return left <= 0;
  });
}

function keyOf({ severity, code, source, message }: Diagnostic): string {
  return JSON.stringify([severity, code, source, message]);
}
