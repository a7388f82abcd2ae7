/** One file through the engine: packed facts, or the reason why there are no facts. The same in every process. */
import { isToolError } from '@tool-runtime/protocol';
import type { SkipReason } from '../../contracts/code-index-contract.ts';
import type { ParsedSource } from '../../parse/source-parser.ts';
import { decodeSource } from '../../parse/source-text.ts';
import type { Engine } from '../../symbols/engine.ts';
import { matchTwins } from '../../symbols/match-twins.ts';
import { FactsView } from '../facts-view.ts';
import { packFacts } from '../pack-facts.ts';
import { packColumns } from '../stored-columns.ts';

export interface ParseJob {
  readonly path: string;
  readonly language: string;
  readonly bytes: Uint8Array;
  /** Packed facts of the file's last content: twins keep their ids by them. */
  readonly earlier?: Uint8Array | undefined;
}

/** What a file declares, as bytes: all of it, and the columns queries compare. */
export interface PackedFile {
  readonly packed: Uint8Array;
  readonly columns: Uint8Array;
}

export type ParseOutcome = PackedFile | { readonly skipped: SkipReason };

/** Refusals that are about the content. Any other is about the language, and goes away when that is fixed. */
const CONTENT_REASONS: readonly SkipReason[] = ['too_large', 'binary', 'parse_timeout', 'too_many_symbols'];

/** The first message of a process: its engine is ready. */
export const READY = 'ready';

/** An earlier parse to reuse, and a taker for the new one, which then owns it. Asked when parsing begins. */
export interface TreeKeeper {
  previous(): ParsedSource | undefined;
  keep(parsed: ParsedSource): void;
}

export interface ParseExtras {
  readonly trees?: TreeKeeper;
  readonly signal?: AbortSignal | undefined;
}

/** A parse whose facts are still to be read. */
export interface ParsedJob {
  readonly job: ParseJob;
  readonly parsed: ParsedSource;
}

/** Throws what is no judgement about the file: cancellation, and failures of the parser itself. */
export async function parseOutcome(engine: Engine, job: ParseJob, options: ParseExtras = {}): Promise<ParseOutcome> {
  const { trees, signal } = options;
  const begun = await parseJob(engine, job, options);
  if ('skipped' in begun) return begun;
  let isKept = false;
  try {
    const outcome = factsOutcome(engine, begun, signal);
    if ('packed' in outcome) {
      trees?.keep(begun.parsed);
      isKept = trees !== undefined;
    }
    return outcome;
  } finally {
    if (!isKept) begun.parsed.delete();
  }
}

/** The first half: the tree, which is the caller's to free. Throws as `parseOutcome` does. */
export async function parseJob(
  engine: Engine,
  job: ParseJob,
  { trees, signal }: ParseExtras = {},
): Promise<ParsedJob | { readonly skipped: SkipReason }> {
  const { path, language } = job;
  try {
    const parser = await engine.parserFor(language);
    // No await from here on: a kept tree may be freed by code that runs in between.
    const previous = trees?.previous();
    const parsed = parser.parse(decodeSource(job.bytes, path), {
      path,
      ...(signal === undefined ? {} : { signal }),
      ...(previous === undefined ? {} : { previous }),
    });
    return { job, parsed };
  } catch (thrown) {
    return judge(thrown, signal);
  }
}

/** The second half, which leaves the tree as it is. Throws as `parseOutcome` does. */
export function factsOutcome(engine: Engine, { job, parsed }: ParsedJob, signal?: AbortSignal): ParseOutcome {
  try {
    const read = engine.facts(parsed, job.path, signal === undefined ? {} : { signal });
    const earlier = job.earlier === undefined ? undefined : new FactsView(job.earlier);
    const facts = earlier === undefined ? read : matchTwins({ nodes: earlier.earlier() }, read, job.path);
    return { packed: packFacts(facts), columns: packColumns(facts) };
  } catch (thrown) {
    return judge(thrown, signal);
  }
}

function judge(thrown: unknown, signal: AbortSignal | undefined): { readonly skipped: SkipReason } {
  const reason = isToolError(thrown) ? thrown.details['reason'] : undefined;
  if (typeof reason !== 'string' || reason === 'cancelled' || signal?.aborted === true) throw thrown;
  return { skipped: CONTENT_REASONS.find((known) => known === reason) ?? 'grammar_refused' };
}
