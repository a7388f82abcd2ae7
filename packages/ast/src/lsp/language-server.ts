/**
 * One language server as its callers see it: every question starts it when needed, waits until its answers are whole,
 * and ends within the caller's limits.
 */
import type { TextRange } from './answer-shapes.ts';
import { Deadline, type Limits } from './deadline.ts';
import { type Diagnostic, readDiagnostics } from './diagnostic-store.ts';
import type { ChangedPath } from './open-documents.ts';
import type {
  CodeAction,
  CodeActionFilter,
  DocumentSymbol,
  EditOptions,
  FoundRange,
  Hover,
  PlaceInFile,
  RenameTarget,
  WorkspaceSymbol,
} from './query-results.ts';
import type { ServerHealth } from './ready-strategy.ts';
import { ServerLife, type ServerState } from './server-life.ts';
import { ServerQueries } from './server-queries.ts';
import type { ServerSession, SessionSetting } from './server-session.ts';
import type { PlannedEdit } from './workspace-edit.ts';

/**
 * Says whether the server's answers prove that it knows the whole project: for example whether the references of a
 * symbol include a file that is known to import it. Asked again until it says yes or time is up.
 */
export type ReadyProbe = (queries: ServerQueries) => Promise<boolean>;

export interface AskOptions extends Limits {
  readonly probe?: ReadyProbe;
}

export interface DiagnosticOptions extends Limits {
  /** How long to wait for a report the server sends on its own. 2 s by default. */
  readonly waitMs?: number;
}

export interface DiagnosticAnswer {
  /** False: the server said nothing about this version of the file in time, which does not mean it is in order. */
  readonly isReported: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

const FIRST_PROBE_MS = 50;
const LAST_PROBE_MS = 1_000;
const DIAGNOSTICS_WAIT_MS = 2_000;
/** Servers report syntax first and types a moment later. */
const SETTLE_MS = 200;

export class LanguageServer {
  readonly #setting: Omit<SessionSetting, 'signal'>;
  readonly #life: ServerLife;

  constructor(setting: Omit<SessionSetting, 'signal'>) {
    this.#setting = setting;
    this.#life = new ServerLife(setting);
  }

  get provider(): string {
    return this.#setting.provider.name;
  }

  /** Workspace-relative folder that is its root. */
  get folder(): string {
    return this.#setting.folder;
  }

  get state(): ServerState {
    return this.#life.state;
  }

  /** Of the running process: what an earlier one said may be worth nothing. 0 when none runs. */
  get generation(): number {
    return this.#life.live?.generation ?? 0;
  }

  get health(): ServerHealth {
    const health = this.#life.live?.readiness.health ?? { level: 'ok' };
    return health.message === undefined ? health : { ...health, message: this.#setting.uris.hideIn(health.message) };
  }

  /** Undefined while a request runs. */
  get idleSince(): number | undefined {
    return this.#life.isBusy ? undefined : this.#life.lastUse;
  }

  /** Starts it. Throws E_POLICY when it is not installed, E_INTERNAL when it does not come up or rests after failures. */
  start(limits: Limits = {}): Promise<void> {
    return this.#life.use(this.#deadline(limits), async () => {});
  }

  /** Opens the files, so that the projects they belong to are loaded, and waits until the server is ready. */
  warm(paths: readonly string[], options: AskOptions = {}): Promise<void> {
    const deadline = this.#deadline(options);
    return this.#life.use(deadline, async (session) => {
      for (const path of paths) await this.#open(session, path, deadline);
      await this.#untilReady(session, deadline, options.probe);
    });
  }

  /** Several questions to one process, once it is ready. `path` is opened first: some servers load projects only then. */
  ask<T>(path: string | null, options: AskOptions, work: (queries: ServerQueries) => Promise<T>): Promise<T> {
    const deadline = this.#deadline(options);
    return this.#life.use(deadline, async (session) => {
      if (path !== null) await this.#open(session, path, deadline);
      await this.#untilReady(session, deadline, options.probe);
      return work(new ServerQueries(session, deadline, this.#setting.uris));
    });
  }

  rename(at: PlaceInFile, newName: string, options: AskOptions & EditOptions = {}): Promise<PlannedEdit> {
    return this.ask(at.path, options, (queries) => queries.rename(at, newName, options));
  }

  prepareRename(at: PlaceInFile, options: AskOptions = {}): Promise<RenameTarget | null> {
    return this.ask(at.path, options, (queries) => queries.prepareRename(at));
  }

  references(
    at: PlaceInFile,
    options: AskOptions & { readonly includeDeclaration?: boolean } = {},
  ): Promise<readonly FoundRange[]> {
    return this.ask(at.path, options, (queries) => queries.references(at, options));
  }

  definition(at: PlaceInFile, options: AskOptions = {}): Promise<readonly FoundRange[]> {
    return this.ask(at.path, options, (queries) => queries.definition(at));
  }

  implementation(at: PlaceInFile, options: AskOptions = {}): Promise<readonly FoundRange[]> {
    return this.ask(at.path, options, (queries) => queries.implementation(at));
  }

  hover(at: PlaceInFile, options: AskOptions = {}): Promise<Hover | null> {
    return this.ask(at.path, options, (queries) => queries.hover(at));
  }

  documentSymbol(path: string, options: AskOptions = {}): Promise<readonly DocumentSymbol[]> {
    return this.ask(path, options, (queries) => queries.documentSymbol(path));
  }

  workspaceSymbol(query: string, options: AskOptions = {}): Promise<readonly WorkspaceSymbol[]> {
    return this.ask(null, options, (queries) => queries.workspaceSymbol(query));
  }

  codeActions(
    path: string,
    range: TextRange,
    options: AskOptions & CodeActionFilter = {},
  ): Promise<readonly CodeAction[]> {
    return this.ask(path, options, (queries) => queries.codeActions(path, range, options));
  }

  resolveCodeAction(handle: string, options: AskOptions & EditOptions = {}): Promise<PlannedEdit> {
    return this.ask(null, options, (queries) => queries.resolveCodeAction(handle, options));
  }

  /** `path`: the file it is about, opened first: some servers are never ready without one. */
  raw(method: string, params: unknown, options: AskOptions & { readonly path?: string } = {}): Promise<unknown> {
    return this.ask(options.path ?? null, options, (queries) => queries.raw(method, params));
  }

  /** What is wrong with the file as it is on disk now. */
  diagnostics(path: string, options: DiagnosticOptions = {}): Promise<DiagnosticAnswer> {
    const { uris } = this.#setting;
    const deadline = this.#deadline(options);
    return this.#life.use(deadline, async (session) => {
      await this.#open(session, path, deadline);
      await this.#untilReady(session, deadline, undefined);
      const items = session.pullsDiagnostics()
        ? await new ServerQueries(session, deadline, uris).pulledDiagnostics(path)
        : await this.#pushed(session, uris.clean(path), options);
      return { isReported: items !== undefined, diagnostics: readDiagnostics(items ?? [], uris) };
    });
  }

  changed(changes: readonly ChangedPath[]): Promise<void> {
    return this.#life.changed(changes);
  }

  /** Ends the process; the next question starts another. */
  stop(): Promise<void> {
    return this.#life.stop();
  }

  close(): Promise<void> {
    return this.#life.close();
  }

  #deadline(limits: Limits): Deadline {
    return new Deadline(this.provider, this.#setting.timers, limits);
  }

  async #open(session: ServerSession, path: string, deadline: Deadline): Promise<void> {
    await deadline.race(session.documents.open(path), { late: 'server_starting' });
    session.readiness.documentOpened();
  }

  async #untilReady(session: ServerSession, deadline: Deadline, probe: ReadyProbe | undefined): Promise<void> {
    const gone = session.process.ended.then((why) => {
      throw why;
    });
    const ready = () => deadline.race(Promise.race([session.readiness.whenReady(), gone]), { late: 'server_indexing' });
    await ready();
    if (probe === undefined) return;
    const queries = new ServerQueries(session, deadline, this.#setting.uris);
    for (let pause = FIRST_PROBE_MS; !(await deadline.race(probe(queries), { late: 'server_indexing' })); ) {
      await deadline.pause(pause);
      await ready();
      pause = Math.min(pause * 2, LAST_PROBE_MS);
    }
  }

  /** The last report once reports stop coming, or undefined. */
  async #pushed(
    { diagnostics, documents, process }: ServerSession,
    path: string,
    { waitMs = DIAGNOSTICS_WAIT_MS, signal }: DiagnosticOptions,
  ): Promise<readonly unknown[] | undefined> {
    const { timers } = this.#setting;
    if (diagnostics.raw(path) === undefined) await documents.renew(path);
    const settled = Promise.withResolvers<void>();
    const age = diagnostics.ageOf(path);
    let disarm = timers.after(age === undefined ? waitMs : Math.max(0, SETTLE_MS - age), settled.resolve);
    const until = timers.monotonic() + waitMs;
    const unwatch = diagnostics.watch(path, () => {
      disarm();
      disarm = timers.after(Math.min(SETTLE_MS, Math.max(0, until - timers.monotonic())), settled.resolve);
    });
    try {
      const deadline = this.#deadline({ timeoutMs: waitMs + SETTLE_MS, ...(signal === undefined ? {} : { signal }) });
      await deadline.race(Promise.race([settled.promise, process.ended]), { late: 'request_timeout' });
    } finally {
      unwatch();
      disarm();
    }
    return diagnostics.raw(path);
  }
}
