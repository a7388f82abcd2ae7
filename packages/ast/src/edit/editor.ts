/**
 * Structural edits of a workspace: planned whole, shown as a diff, applied all or nothing.
 *
 * Planning reads and changes nothing. A plan holds for the content it was made from and for no other.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { Workspace } from '@tool-runtime/sdk';
import type { CodeIndex } from '../contracts/code-index-contract.ts';
import type { LspManager } from '../lsp/language-servers.ts';
import { createPatternMatcher } from '../rewrite/pattern-matcher.ts';
import type { ProjectFiles } from '../scope/scope-model.ts';
import type { Engine } from '../symbols/engine.ts';
import { type AppliedEdit, type ApplyOptions, applyPlan, type BuildCheck } from './apply-edit.ts';
import { EditDesk } from './edit-desk.ts';
import { refuseEdit, throwIfAborted } from './edit-failures.ts';
import { type EditOperation, type EditRequest, parseOperation } from './edit-operations.ts';
import type { Confidence, EditPlan, PlannedFile, Residual } from './edit-plan.ts';
import { createEditProfiles } from './edit-profile.ts';
import { planOperation } from './operations/catalog.ts';
import { type ActionPlace, type ListedAction, listCodeActions } from './operations/code-action.ts';
import { type RememberedNode, SessionMemory } from './session-memory.ts';
import type { Outcome, Work } from './work.ts';
import { writeDiff } from './write-diff.ts';

export interface EditorOptions {
  readonly index: CodeIndex;
  readonly engine: Engine;
  /** The workspace's files as they are now; asked once for every plan. */
  readonly files: ProjectFiles | ((signal: AbortSignal | undefined) => Promise<ProjectFiles>);
  readonly servers?: LspManager;
  readonly formatter?: Formatter;
  readonly build?: BuildCheck;
  /** Of earlier editors of the same workspace; a new one by default. */
  readonly memory?: SessionMemory;
  /** For what a server is asked, start and indexing included. 20 s by default. */
  readonly serverTimeoutMs?: number;
}

export interface PlanOptions {
  readonly signal?: AbortSignal;
  /** Format the files the edit touches. */
  readonly format?: boolean;
}

export interface Editor {
  /**
   * Throws E_AST_EDIT with `details.reason`, E_VALIDATION_FAIL for wrong arguments, E_TIMEOUT when only a server could
   * answer and it does not. Unknown operations are E_AST_EDIT.
   */
  plan(operation: EditRequest, options?: PlanOptions): Promise<EditPlan>;
  diff(plan: EditPlan): string;
  /** Writes the plan, all of it or nothing, and brings index and servers in line. */
  apply(plan: EditPlan, workspace: Workspace, options?: ApplyOptions): Promise<AppliedEdit>;
  /** What a language server offers for a place. Throws E_POLICY when none is configured for it. */
  codeActions(place: ActionPlace, options?: Pick<PlanOptions, 'signal'>): Promise<readonly ListedAction[]>;
  /** Declarations whose ids were given out: helps to say what a stale id meant. */
  remember(nodes: readonly RememberedNode[]): void;
}

const SERVER_TIMEOUT_MS = 20_000;
const MAX_EDITS = 2_000;
const MAX_FILES = 500;
const RANK: readonly Confidence[] = ['tree', 'proven', 'resolver', 'server'];

export function createEditor(options: EditorOptions): Editor {
  const profiles = createEditProfiles();
  const { memory = new SessionMemory() } = options;
  const patterns = memory.patterns(() => createPatternMatcher(options.engine, profiles));
  async function withDesk<T>(signal: AbortSignal | undefined, use: (desk: EditDesk) => Promise<T>): Promise<T> {
    throwIfAborted(signal);
    const files = typeof options.files === 'function' ? await options.files(signal) : options.files;
    const { index, engine } = options;
    const desk = new EditDesk({ index, engine, files, profiles, memory, signal });
    try {
      return await use(desk);
    } finally {
      desk.close();
    }
  }

  return {
    diff: writeDiff,
    remember: (nodes) => memory.remember(nodes),
    async plan(request, planOptions = {}) {
      const operation = parseOperation(request);
      return withDesk(planOptions.signal, (desk) => makePlan(operation, { desk, patterns }, options, planOptions));
    },
    codeActions: (place, { signal } = {}) =>
      withDesk(signal, (desk) => {
        const { servers, serverTimeoutMs = SERVER_TIMEOUT_MS } = options;
        return listCodeActions(place, { desk, patterns, servers, serverTimeoutMs, warn: () => {} });
      }),
    apply: (plan, workspace, applyOptions = {}) => applyPlan({ ...options, plan, workspace, memory }, applyOptions),
  };
}

async function makePlan(
  operation: EditOperation,
  { desk, patterns }: Pick<Work, 'desk' | 'patterns'>,
  { servers, formatter, engine, index, serverTimeoutMs = SERVER_TIMEOUT_MS }: EditorOptions,
  { format, signal }: PlanOptions,
): Promise<EditPlan> {
  const warnings = new Set<string>();
  const warn = (warning: string) => void warnings.add(warning);
  const outcome = await planAll(operation, { desk, patterns, servers, serverTimeoutMs, warn });
  const drafted = desk.planned();
  const count = drafted.reduce((sum, file) => sum + file.edits.length, 0);
  requireConfirmed(operation, count, drafted.length);
  const languageOf = (path: string) => index.fileRow(path)?.language ?? engine.detect(path);
  const files = format === true ? await formatPlan(drafted, { formatter, engine, languageOf, signal, warn }) : drafted;
  return {
    operation: operation.operation,
    files,
    edits: count,
    confidence: outcome.confidence,
    renamedIds: outcome.renamedIds ?? {},
    residual: outcome.residual ?? [],
    warnings: [...warnings],
  };
}

/** A batch resolves all its ids before the first change. */
async function planAll(operation: EditOperation, work: Work): Promise<Outcome> {
  if (operation.operation !== 'batch') return planOperation(operation, work);
  for (const one of operation.operations) {
    if ('target_node_id' in one && one.target_node_id !== undefined) {
      await work.desk.target({ target_node_id: one.target_node_id, expected_rev: one.expected_rev });
    }
  }
  let confidence: Confidence = 'tree';
  let renamedIds: Record<string, string> = {};
  const residual: Residual[] = [];
  for (const one of operation.operations) {
    const outcome = await planOperation(one, work);
    const renamed = outcome.renamedIds ?? {};
    work.desk.follow(renamed, outcome.movedTo);
    renamedIds = chain(renamedIds, renamed);
    residual.push(...(outcome.residual ?? []));
    if (RANK.indexOf(outcome.confidence) > RANK.indexOf(confidence)) confidence = outcome.confidence;
  }
  return { confidence, renamedIds, residual };
}

/** What was renamed and then renamed again is renamed once. */
function chain(
  first: Readonly<Record<string, string>>,
  then: Readonly<Record<string, string>>,
): Record<string, string> {
  const left = new Map(Object.entries(then));
  const joined: Record<string, string> = {};
  for (const [old, fresh] of Object.entries(first)) {
    joined[old] = left.get(fresh) ?? fresh;
    left.delete(fresh);
  }
  return { ...joined, ...Object.fromEntries(left) };
}

function requireConfirmed(operation: EditOperation, edits: number, files: number): void {
  const isConfirmed = 'confirm_large' in operation && operation.confirm_large;
  if (isConfirmed || (edits <= MAX_EDITS && files <= MAX_FILES)) return;
  throw refuseEdit('too_large', `Edit is large: ${edits} edits in ${files} files`, {
    path: 'confirm_large',
    next: 'look at what it would change, then pass confirm_large',
    details: { edits, files },
  });
}

/** The port of source formatters: text in, text out. Nothing is written, so a failure costs nothing. */
export interface FormatRequest {
  /** Workspace-relative; formatters choose rules and read configuration by it. */
  readonly path: string;
  readonly language: string;
  readonly bytes: Uint8Array;
  readonly signal?: AbortSignal | undefined;
}

export interface Formatter {
  /** What would format this file, for people; undefined when nothing does. */
  formatterOf(path: string, language: string): Promise<string | undefined>;
  /** Throws when the formatter fails or does not accept the text. */
  format(request: FormatRequest): Promise<Uint8Array>;
}

interface Formatting {
  readonly formatter: Formatter | undefined;
  readonly engine: Engine;
  languageOf(path: string): string | undefined;
  readonly signal?: AbortSignal | undefined;
  warn(warning: string): void;
}

/**
 * Formats what a plan changes, in memory, before anything is written.
 *
 * A file that its formatter would have changed already before the edit stays unformatted: readers of the diff want to
 * see the edit. A failure is a warning; the edit stays.
 */
async function formatPlan(files: readonly PlannedFile[], formatting: Formatting): Promise<readonly PlannedFile[]> {
  const formatted: PlannedFile[] = [];
  for (const file of files) {
    throwIfAborted(formatting.signal);
    const after = await formatFile(file, formatting);
    formatted.push(after === undefined ? file : { ...file, after });
  }
  return formatted;
}

async function formatFile(file: PlannedFile, formatting: Formatting): Promise<Uint8Array | undefined> {
  const { formatter, engine, languageOf, signal, warn } = formatting;
  const { path, before, after } = file;
  if (after === null) return undefined;
  const language = languageOf(path);
  const name = language === undefined ? undefined : await formatter?.formatterOf(path, language);
  if (formatter === undefined || name === undefined || language === undefined) {
    warn(`no formatter: ${path}`);
    return undefined;
  }
  try {
    const request = { path, language, signal };
    if (before !== null && !same(await formatter.format({ ...request, bytes: before }), before)) {
      warn(`not formatted, it was not before either: ${path}`);
      return undefined;
    }
    const result = await formatter.format({ ...request, bytes: after });
    if (await isSound(engine, { path, language, after, result })) return result;
    warn(`not formatted, ${name} broke the syntax: ${path}`);
  } catch (thrown) {
    throwIfAborted(signal);
    const why = isToolError(thrown) ? `: ${thrown.message}` : '';
    warn(`not formatted, ${name} failed: ${path}${why}`);
  }
  return undefined;
}

interface Formatted {
  readonly path: string;
  readonly language: string;
  readonly after: Uint8Array;
  readonly result: Uint8Array;
}

async function isSound(engine: Engine, { path, language, after, result }: Formatted): Promise<boolean> {
  if (result.length === 0 && after.length > 0) return false;
  const [plain, formatted] = [
    await engine.index({ path, language, bytes: after }),
    await engine.index({ path, language, bytes: result }),
  ];
  return formatted.problemCount <= plain.problemCount && formatted.nodes.length === plain.nodes.length;
}

function same(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}
