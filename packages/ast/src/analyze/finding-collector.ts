/** Gathers what an adapter finds: paths become workspace-relative, and what cannot be used is dropped and counted. */
import type {
  AdapterContext,
  AnalyzerNote,
  FindingLevel,
  NoteKind,
  RawAnalysis,
  RawEdit,
  RawFinding,
  RawPlace,
} from './analyzer-adapter.ts';

const MAX_MESSAGE = 4_000;
const MAX_RULE = 300;
const MAX_TOOL_NOTES = 20;

export interface FoundEdit {
  readonly path: string | undefined;
  readonly place: RawPlace;
  readonly newText: string;
}

export interface Found {
  readonly rule: string;
  readonly level: FindingLevel;
  /** The rule's name replaces an empty one. */
  readonly message: string;
  /** Path or file URI as printed. */
  readonly path: string | undefined;
  readonly place: RawPlace;
  readonly edits?: readonly FoundEdit[];
  readonly docs?: string | undefined;
}

type Counted = Exclude<NoteKind, 'tool' | 'columns'>;

const WORDS: Readonly<Record<Counted, string>> = {
  outside: 'Findings outside the workspace were dropped',
  no_file: 'Findings that name no file were dropped',
  unreadable: 'Entries of an unknown shape were dropped',
  suppressed: 'Suppressed findings were left out',
  fix: 'Fixes were left out: they reach outside the workspace or have no certain place',
};

export class FindingCollector {
  readonly #context: AdapterContext;
  readonly #provider: string;
  readonly #findings: RawFinding[] = [];
  readonly #counts = new Map<Counted, number>();
  readonly #toolNotes: AnalyzerNote[] = [];

  constructor(context: AdapterContext, provider: string) {
    this.#context = context;
    this.#provider = context.provider ?? provider;
  }

  add(found: Found): void {
    if (found.path === undefined || found.path === '') {
      this.drop('no_file');
      return;
    }
    const file = this.#context.toRelative(found.path);
    if (file === undefined) {
      this.drop('outside');
      return;
    }
    const rule = clip(found.rule, MAX_RULE);
    const edits = this.#editsInside(found.edits);
    this.#findings.push({
      provider: this.#provider,
      rule,
      level: found.level,
      message: found.message.trim() === '' ? rule : clip(found.message, MAX_MESSAGE),
      file,
      place: found.place,
      ...(edits === undefined ? {} : { edits }),
      ...(found.docs === undefined ? {} : { docs: found.docs }),
    });
  }

  drop(kind: Counted): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }

  /** Says what the analyzer complains about in its own run; those beyond the first few are not kept. */
  complain(message: string): void {
    if (this.#toolNotes.length >= MAX_TOOL_NOTES) return;
    this.#toolNotes.push({ kind: 'tool', count: 1, message: clip(message, MAX_MESSAGE) });
  }

  finish(): RawAnalysis {
    const counted = [...this.#counts].map(([kind, count]) => ({ kind, count, message: `${WORDS[kind]}: ${count}` }));
    return { findings: this.#findings, notes: [...this.#toolNotes, ...counted] };
  }

  /** A fix is one whole: an edit that cannot be made takes the others along. */
  #editsInside(found: readonly FoundEdit[] | undefined): readonly RawEdit[] | undefined {
    if (found === undefined || found.length === 0) return undefined;
    const edits: RawEdit[] = [];
    for (const { path, place, newText } of found) {
      const file = path === undefined ? undefined : this.#context.toRelative(path);
      if (file === undefined) {
        this.drop('fix');
        return undefined;
      }
      edits.push({ file, place, newText });
    }
    return edits;
  }
}

function clip(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
