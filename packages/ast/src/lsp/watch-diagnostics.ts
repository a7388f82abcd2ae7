/**
 * What running language servers find wrong after a change and did not before.
 *
 * No server is started for it, and an edit waits only for a short time. What a server says later is owed: the next edit of the file
 * is compared with the last state that was told, so that nothing is lost and nothing is called sound that was not looked at.
 */
import { type ErrorEntry, isToolError } from '@tool-runtime/protocol';
import { type Diagnostic, newDiagnostics } from './diagnostic-store.ts';
import type { LspManager } from './language-servers.ts';
import { runningProvider, runningServer } from './running-server.ts';

export interface FreshDiagnostic {
  readonly file: string;
  readonly line: number;
  readonly col: number;
  readonly severity: Diagnostic['severity'];
  readonly message: string;
  readonly code?: string;
  readonly source?: string;
}

export interface DiagnosticNews {
  readonly found: readonly FreshDiagnostic[];
  /** Files of `found` whose problems may be older: the server had not said before what is wrong with them. */
  readonly undated: readonly string[];
  /** Files about which a running server said nothing in time. */
  readonly late: readonly string[];
}

/** Asks again about those of the files that are there now. */
export type DiagnosticWatch = (paths: readonly string[]) => Promise<DiagnosticNews>;

const MAX_FILES = 20;
const MAX_REMEMBERED = 500;
/** A server is asked for this long, while the edit has long been answered. */
const ASK_MS = 30_000;
const REPORT_MS = 10_000;

type Found = readonly Diagnostic[];

/** What was last told about a file. */
interface Told {
  readonly known?: Found;
  /** A change came after it about which nothing was told. */
  readonly isOwed: boolean;
  /** What the server said about that change since. */
  late?: Found;
}

export class DiagnosticWatcher {
  readonly #told = new Map<string, Told>();
  readonly #closed = new AbortController();

  /** Asks now, for half of the time at most. Undefined where no server runs for any of the files. */
  async watch(servers: LspManager, paths: readonly string[], waitMs: number): Promise<DiagnosticWatch | undefined> {
    const watched = paths.filter((path) => runningProvider(servers, path) !== undefined).slice(0, MAX_FILES);
    if (watched.length === 0) return undefined;
    const until = performance.now() + waitMs;
    await Promise.all(watched.map((path) => this.#askBefore(servers, path, waitMs / 2)));
    return async (now) => {
      const left = Math.max(0, until - performance.now(), waitMs / 2);
      const asked = watched.filter((path) => now.includes(path));
      const news = await Promise.all(asked.map((path) => this.#askAfter(servers, path, left)));
      return {
        found: news.flatMap(({ found }) => found),
        undated: news.flatMap(({ undated }) => undated),
        late: news.flatMap(({ late }) => late),
      };
    };
  }

  close(): void {
    this.#closed.abort();
  }

  /** Where something is owed the last state that was told stays the one to compare with. */
  async #askBefore(servers: LspManager, path: string, waitMs: number): Promise<void> {
    if (this.#told.get(path)?.isOwed === true) return;
    const known = await within(waitMs, this.#ask(servers, path));
    if (known !== undefined) this.#remember(path, { known, isOwed: false });
  }

  async #askAfter(servers: LspManager, path: string, waitMs: number): Promise<DiagnosticNews> {
    const { known, isOwed, late } = this.#told.get(path) ?? { isOwed: false };
    const answer = this.#ask(servers, path);
    const now = await within(waitMs, answer);
    if (now !== undefined) {
      this.#remember(path, { known: now, isOwed: false });
      return { ...newsOf(path, known, now), late: [] };
    }
    // What came too late for the change before is told now.
    const owed: Told = { ...((late ?? known) === undefined ? {} : { known: late ?? known ?? [] }), isOwed: true };
    this.#remember(path, owed);
    const keep = (found: Found | undefined) => {
      if (found !== undefined) owed.late = found;
    };
    answer.then(keep, () => {});
    return isOwed && late !== undefined
      ? { ...newsOf(path, known, late), late: [path] }
      : { found: [], undated: [], late: [path] };
  }

  #remember(path: string, told: Told): void {
    this.#told.delete(path);
    this.#told.set(path, told);
    const [oldest] = this.#told.keys();
    if (this.#told.size > MAX_REMEMBERED && oldest !== undefined) this.#told.delete(oldest);
  }

  /** Undefined when it is not worth having: no server, no report, a server that fails. */
  async #ask(servers: LspManager, path: string): Promise<Found | undefined> {
    try {
      const server = await runningServer(servers, path);
      const { signal } = this.#closed;
      const answer = await server?.diagnostics(path, { timeoutMs: ASK_MS, waitMs: REPORT_MS, signal });
      return answer?.isReported === true ? answer.diagnostics : undefined;
    } catch (thrown) {
      if (!isToolError(thrown)) throw thrown;
      return undefined;
    }
  }
}

/** Without a state to compare with, everything that is wrong now is told, and said to be of unknown age. */
function newsOf(path: string, known: Found | undefined, now: Found): Pick<DiagnosticNews, 'found' | 'undated'> {
  const found = newDiagnostics(known ?? [], now).map((one) => toWire(path, one));
  return { found, undated: known === undefined && found.length > 0 ? [path] : [] };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  // A caller that gave up no longer looks at the outcome.
  work.catch(() => {});
  if (ms <= 0) return undefined;
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export function lateNews(late: readonly string[], waitMs: number): ErrorEntry {
  return {
    code: 'E_TIMEOUT',
    message: `Language server has not yet said what is new: ${late.join(', ')}`,
    details: {
      reason: 'diagnostics_late',
      limit_ms: waitMs,
      next: 'The change is made. What the server finds comes with the next edit of the file; ask with ast_external to have it now',
    },
  };
}

function toWire(
  file: string,
  { startLine, startCharacter, severity, message, code, source }: Diagnostic,
): FreshDiagnostic {
  return {
    ...{ file, line: startLine + 1, col: startCharacter + 1, severity, message },
    ...(code === undefined ? {} : { code }),
    ...(source === undefined ? {} : { source }),
  };
}
