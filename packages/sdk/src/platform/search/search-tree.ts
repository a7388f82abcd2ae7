/**
 * Text in a workspace, found by ripgrep and never outside the root.
 *
 * Ripgrep walks by name, so a folder swapped for a link could lead it out. Where bubblewrap works it runs in a sandbox
 * with nothing but the workspace in sight; elsewhere every line it reports is read again by descriptor before it
 * counts. Its pattern engine needs linear time, whatever the pattern.
 */
import { closeSync, constants } from 'node:fs';
import { ToolError } from '@tool-runtime/protocol';
import type { WorkspaceOverlay } from '../../contracts/commands.ts';
import { failure } from '../../contracts/failures.ts';
import type { FileCount, SearchAnswer, SearchMatch, SearchQuery } from '../../contracts/search.ts';
import type { MaybePromise } from '../../contracts/workspace.ts';
import { globBase } from '../../glob/glob-walk.ts';
import { compileGlobs, type GlobTest } from '../../glob/match-glob.ts';
import { joinPath, type RelativePath } from '../descriptors/path-rules.ts';
import { errnoCode } from '../errno-error.ts';
import { DIRECTORY_HANDLE, O_PATH } from '../open-flags.ts';
import { Pace } from '../pace.ts';
import type { Spawner } from '../processes/spawned-process.ts';
import type { SecretTest } from '../protection/governing-files.ts';
import { type Bubblewrap, confinedCommand } from '../sandbox/confinement.ts';
import { type ProgramEnd, type RunningProgram, runProgram } from '../sandbox/run-program.ts';
import { isMountChanged } from '../sandbox/verify-mounts.ts';
import { createConfirmer } from './confirm-file.ts';
import { inFewPieces } from './few-pieces.ts';
import { FolderView, type TreeSource } from './folder-view.ts';
import { searchArguments } from './search-command.ts';
import { type FoundFile, type FoundLine, SearchOutput } from './search-output.ts';

/** A file with more matching lines than this is counted in steps. */
const COUNT_BATCH_LINES = 4096;
/** How ripgrep ends when a folder it is about to read is swapped at the wrong moment; seen under attack only. */
const PANIC = 101;
const MAX_ATTEMPTS = 5;

export interface SearchSource extends TreeSource {
  /** Absolute path of ripgrep. */
  readonly program: string;
  /** Undefined: no sandbox on this machine. */
  readonly bubblewrap: Bubblewrap | undefined;
  readonly spawner: Spawner;
  /** Tells whether an open file may not be read; undefined where there can be none. */
  secrets(): SecretTest | undefined;
  readonly overlay: WorkspaceOverlay | undefined;
}

/**
 * Throws E_VALIDATION_FAIL for a pattern or glob that cannot be read. A fired signal is no error: the answer holds
 * what was found until then.
 */
export async function searchTree(source: SearchSource, query: SearchQuery): Promise<SearchAnswer> {
  checkPattern(query);
  const accepts = query.globs.length === 0 ? () => true : compileGlobs(query.globs);
  const search: Search = { source, query, accepts, results: new SearchResults(query), attempt: 1 };
  if (query.signal?.aborted) return search.results.answer({ interrupted: true });
  if (source.bubblewrap === undefined) return runSearch(search, []);
  const base = globBase(query.globs);
  const place = await findBase(search, base);
  if (place === 'nothing') return search.results.answer({ interrupted: false });
  return runSearch(search, place === 'folder' ? base : []);
}

interface Search {
  readonly source: SearchSource;
  readonly query: SearchQuery;
  readonly accepts: GlobTest;
  readonly results: SearchResults;
  readonly attempt: number;
}

/** Ripgrep searches what it is told to, ignored or not, so the way down to the globs' folder is checked here. */
async function findBase(
  { source, query }: Search,
  base: readonly string[],
): Promise<'folder' | 'elsewhere' | 'nothing'> {
  if (base.length === 0) return 'folder';
  let view: FolderView | undefined = await FolderView.root(source, query);
  for (const name of base) {
    if (view === undefined || view.hides(name)) return 'nothing';
    if (!view.entries.includes(`${name}/`)) return view.entries.includes(name) ? 'elsewhere' : 'nothing';
    if (view.ignores(name, 'directory')) return 'nothing';
    view = await view.enter(name);
  }
  return 'folder';
}

async function runSearch(search: Search, base: readonly string[]): Promise<SearchAnswer> {
  const { query, results, source } = search;
  const running = await startSearch(search, base).catch((thrown) => {
    if (source.bubblewrap === undefined || !isMountChanged(thrown)) throw thrown;
  });
  if (running === undefined) return runSearch(unconfined(search), []);
  const stop = (): void => running.kill();
  query.signal?.addEventListener('abort', stop, { once: true });
  // It may have fired while the program was being started.
  if (query.signal?.aborted) stop();
  let outcome: 'all' | 'limit' | undefined;
  let end: ProgramEnd;
  try {
    outcome = await readOutput(running, search);
  } finally {
    query.signal?.removeEventListener('abort', stop);
    // Whatever happened, nothing is left running.
    if (outcome !== 'all') running.kill();
    end = await running.ended;
  }
  const interrupted = query.signal?.aborted === true && end.code === null;
  if (outcome === 'limit' || interrupted) return results.answer({ interrupted });
  if (source.bubblewrap !== undefined && end.complaint.startsWith('bwrap:')) {
    return runSearch(unconfined(search), []);
  }
  if (end.code === PANIC && search.attempt < MAX_ATTEMPTS) {
    return runSearch({ ...search, results: new SearchResults(query), attempt: search.attempt + 1 }, base);
  }
  checkEnd(end);
  return results.answer({ interrupted: false });
}

/** Where no sandbox can be had, every line is confirmed instead. */
function unconfined(search: Search): Search {
  return { ...search, source: { ...search.source, bubblewrap: undefined } };
}

async function startSearch({ source, query }: Search, base: readonly string[]): Promise<RunningProgram> {
  const { bubblewrap, program, root, spawner, overlay } = source;
  const args = searchArguments(query, { base, readsParents: bubblewrap !== undefined });
  const folder = overlay?.path ?? '.';
  const found =
    bubblewrap === undefined
      ? { file: program, args }
      : confinedCommand(bubblewrap, { folder, identity: root.identity, program, args });
  const command = overlay === undefined ? found : { ...found, before: wordsInto(overlay) };
  const fd = root.openBeneath(joinPath([]), DIRECTORY_HANDLE);
  try {
    // The child enters the folder behind the descriptor, wherever that has been moved to.
    return await runProgram(command, { folder: `/proc/self/fd/${fd}`, spawner, readsOnDemand: true });
  } finally {
    closeSync(fd);
  }
}

/** Entering a mount namespace leaves the working folder behind. */
function wordsInto({ words, path }: WorkspaceOverlay): readonly string[] {
  return [...words.slice(0, -1), `--wdns=${path}`, ...words.slice(-1)];
}

async function readOutput(running: RunningProgram, search: Search): Promise<'all' | 'limit'> {
  const { query, results } = search;
  const isCount = query.report === 'counts';
  const output = new SearchOutput({
    wants: (path) => search.accepts(path) && (query.includeHidden || !isHidden(path)) && mayBeRead(path, search.source),
    batchLines: isCount ? COUNT_BATCH_LINES : Number.POSITIVE_INFINITY,
    maxLength: query.maxLineLength,
  });
  const accept = acceptor(search);
  const isOver = (): boolean => results.isOver(isCount ? 0 : (output.current?.matchCount ?? 0));
  for await (const chunk of inFewPieces(running.stdout)) {
    for (const file of output.write(chunk)) await accept(file);
    if (isOver()) break;
  }
  for (const file of output.end()) await accept(file);
  return isOver() ? 'limit' : 'all';
}

function mayBeRead(path: string, { root, secrets }: SearchSource): boolean {
  const isSecret = secrets();
  if (isSecret === undefined) return true;
  let fd: number;
  try {
    fd = root.openBeneath(path as RelativePath, O_PATH | constants.O_NOFOLLOW);
  } catch (thrown) {
    // Gone or swapped since it was found.
    if (errnoCode(thrown) === undefined) throw thrown;
    return false;
  }
  try {
    return !isSecret(fd);
  } finally {
    closeSync(fd);
  }
}

function isHidden(path: string): boolean {
  return path.startsWith('.') || path.includes('/.');
}

/** In the sandbox a found line counts at once; without it, once it is confirmed. */
function acceptor({ source, query, results }: Search): (file: FoundFile) => MaybePromise<void> {
  if (source.bubblewrap !== undefined) return (file) => results.add(file);
  const pace = new Pace(query.signal);
  const confirm = createConfirmer({ root: source.root, pace, maxLength: query.maxLineLength });
  return async (file) => {
    try {
      results.add(await confirm(file));
    } catch (thrown) {
      // What could not be confirmed in time is not known to be inside.
      if (query.signal?.aborted !== true) throw thrown;
    }
  };
}

/** Two means that some file could not be read, or that the pattern is wrong; only then it complains. */
function checkEnd({ code, complaint }: ProgramEnd): void {
  if (code === 2 && complaint !== '') throw explainPattern(complaint);
  if (code === 0 || code === 1 || code === 2) return;
  throw failure('tool_failure', 'retryable', 'Search program ended unexpectedly', {
    details: { reason: code === null ? 'killed' : `exit code ${code}`, next: 'try again, with a narrower glob' },
  });
}

const MAX_SHOWN = 200;
const FIX_PATTERN = 'correct the regular expression, or set fixed to true to search for plain text';
const ALLOW_LINES = 'set multiline to true to match across lines';

/** Throws E_VALIDATION_FAIL for a pattern that no program can be given. */
function checkPattern({ pattern }: SearchQuery): void {
  if (pattern.includes('\0')) throw badPattern('it holds a NUL character, which no text file does', FIX_PATTERN);
  if (!pattern.isWellFormed()) throw badPattern('it holds half of a surrogate pair', FIX_PATTERN);
}

/** Ripgrep's complaint, without its name, the picture of the pattern, and advice about options that callers lack. */
function explainPattern(complaint: string): ToolError {
  const [first = ''] = complaint.split('\n');
  const parsed = /^error: (.*)$/m.exec(complaint)?.[1];
  const why = (parsed ?? first.replace(/^rg: /, '')).replace(/[\p{Cc}\p{Cf}]/gu, '?');
  return badPattern(
    why.length > MAX_SHOWN ? `${why.slice(0, MAX_SHOWN)}…` : why,
    complaint.includes('multiline mode') ? ALLOW_LINES : FIX_PATTERN,
  );
}

function badPattern(why: string, next: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Pattern cannot be searched for: ${why}`, {
    path: 'pattern',
    details: { reason: 'invalid_pattern', next },
  });
}

const NO_LINES: readonly string[] = [];

/** What a search has found so far, kept by file; the answer is put in order at the end. */
class SearchResults {
  readonly #query: SearchQuery;
  readonly #matches = new Map<string, readonly SearchMatch[]>();
  readonly #counts = new Map<string, number>();
  #total = 0;

  constructor(query: SearchQuery) {
    this.#query = query;
  }

  /** One more than asked for has been found, together with `pending` matches that are not added yet. */
  isOver(pending: number): boolean {
    return this.#total + pending > this.#query.maxResults;
  }

  add(file: FoundFile): void {
    if (file.matchCount === 0) return;
    if (this.#query.report === 'counts') this.#addCount(file);
    else {
      this.#matches.set(file.path, matchesOf(file, this.#query.context));
      this.#total += file.matchCount;
    }
  }

  answer({ interrupted }: { readonly interrupted: boolean }): SearchAnswer {
    const { maxResults } = this.#query;
    const matches: SearchMatch[] = [];
    for (const file of sortedKeys(this.#matches)) for (const one of this.#matches.get(file) ?? []) matches.push(one);
    const counts = sortedKeys(this.#counts).map((file): FileCount => ({ file, count: this.#counts.get(file) ?? 0 }));
    return {
      matches: matches.slice(0, maxResults),
      counts: counts.slice(0, maxResults),
      truncated: this.isOver(0),
      interrupted,
    };
  }

  #addCount({ path, matchCount }: FoundFile): void {
    const known = this.#counts.get(path);
    if (known === undefined) this.#total += 1;
    this.#counts.set(path, (known ?? 0) + matchCount);
  }
}

function sortedKeys(byFile: ReadonlyMap<string, unknown>): readonly string[] {
  return [...byFile.keys()].sort();
}

function matchesOf({ path, lines }: FoundFile, context: number): readonly SearchMatch[] {
  const matches: SearchMatch[] = [];
  for (const [at, { number, byteColumn, column, text, cut }] of lines.entries()) {
    if (byteColumn === 0) continue;
    const before = context === 0 ? NO_LINES : neighbours(lines, at, { context, step: -1 });
    const after = context === 0 ? NO_LINES : neighbours(lines, at, { context, step: 1 });
    matches.push({ file: path, line: number, column, text, cut, before, after });
  }
  return matches;
}

/** Up to `context` lines next to a line, as far as they follow each other without a gap. */
function neighbours(
  lines: readonly FoundLine[],
  at: number,
  { context, step }: { readonly context: number; readonly step: 1 | -1 },
): readonly string[] {
  const found: string[] = [];
  const own = lines[at]?.number ?? 0;
  for (let distance = 1; distance <= context; distance++) {
    const line = lines[at + distance * step];
    if (line?.number !== own + distance * step) break;
    found.push(line.text);
  }
  return step < 0 ? found.reverse() : found;
}
