/**
 * What the code index offers. Answers are plain data in wire form (snake_case), ready for tools and rules.
 *
 * `AstIndex` of the sdk is the part the call pipeline uses; the rest serves the ast tools, the edit planner and rules.
 */
import type { AstIndex, FileChange, Violation, Workspace } from '@tool-runtime/sdk';
import type { ByteSpan, ImportFact, NodeType, ProblemFact, RefFact } from './facts.ts';

export interface CodeIndexOptions {
  readonly workspace: Workspace;
  /** Absolute path of the workspace, whose folders are watched. Without it changes of other programs are looked for. */
  readonly root?: string;
  /** Where there are more folders, none is watched. Default 4000. */
  readonly maxWatchedFolders?: number;
  /** Private state folder, absolute; `ast.db` is kept in it. Without it, or when it cannot be used, rows live in memory. */
  readonly folder?: string;
  /** Keep nothing on disk. */
  readonly readOnly?: boolean;
  /** Processes for bulk work; single files are parsed at once on the calling thread. Default 2. */
  readonly workers?: 1 | 2;
  /** JavaScript heap of one worker. Default 1024. */
  readonly workerHeapMb?: number;
  /** Which file an import means, for `importersOf`. Default: relative specifiers only. */
  readonly resolveImport?: ImportResolver;
}

export interface ImportOrigin {
  /** The importing file. */
  readonly path: string;
  readonly language: string;
  /** Whether the index has a file of this path. */
  has(path: string): boolean;
}

/** Workspace-relative path of the file meant, or undefined for one outside the workspace. Must be pure. */
export type ImportResolver = (source: string, origin: ImportOrigin) => string | undefined;

/** A declaration as tools show it. Offsets are bytes, lines and columns start at 1, columns count UTF-16 units. */
export interface QueryNode {
  readonly id: string;
  readonly rev: string;
  readonly type: NodeType;
  readonly subtype?: string;
  readonly name: string;
  readonly container: string;
  readonly file: string;
  readonly language: string;
  readonly exported: boolean;
  readonly has_doc: boolean;
  readonly test: boolean;
  readonly generated?: true;
  readonly span: ByteSpan;
  readonly line: number;
  readonly col: number;
  readonly end_line: number;
  readonly end_col: number;
  readonly name_span: ByteSpan;
  readonly body_span?: ByteSpan;
  readonly full_span: ByteSpan;
  readonly signature: string;
  /** Text of `span`, where the query asked for it. */
  readonly source?: string;
}

/** Words of a query; every one narrows. Unknown words are refused. */
export interface Where {
  /** One of NODE_TYPES, or `trait` (an interface with that subtype). */
  readonly type?: string;
  readonly type_in?: readonly string[];
  /** `*` any text, `?` one character, everything else literally; case counts. */
  readonly name_like?: string;
  /** Glob over workspace-relative paths, as `fs_list` reads them. */
  readonly file_glob?: string;
  readonly exported?: boolean;
  /** Names of the enclosing declarations joined by dots, `*` and `?` allowed; empty: top level only. */
  readonly container?: string;
  readonly language?: string;
  readonly has_doc?: boolean;
  readonly test?: boolean;
  /** Calls, instantiates or expands this name anywhere inside; exact. */
  readonly calls?: string;
}

export interface FreshOptions {
  /** Look for outside changes now, however short ago the last look was. */
  readonly fresh?: boolean;
  readonly signal?: AbortSignal;
}

export interface QueryOptions extends FreshOptions {
  /** Default 200, at most 10,000. */
  readonly limit?: number;
  readonly offset?: number;
  /** Adds the text of each declaration. */
  readonly source?: boolean;
}

export interface QueryAnswer {
  /** By path, then by start. */
  readonly nodes: readonly QueryNode[];
  readonly truncated: boolean;
  /** All that fit; undefined where counting them would mean to open every file. */
  readonly total?: number;
}

/** One declaration with what an edit must know in addition. */
export interface FoundNode {
  readonly node: QueryNode;
  /** Twins changed at once: the id may name another one than it did. Do not edit by it. */
  readonly ambiguous: boolean;
  readonly ordinal: number;
  /** Digest of the file the node was read from. */
  readonly sha256: string;
}

export interface OutlineNode {
  readonly node: QueryNode;
  readonly children: readonly OutlineNode[];
}

export interface RefRow {
  readonly file: string;
  readonly language: string;
  readonly kind: RefFact['kind'];
  readonly name: string;
  readonly start: number;
  readonly line: number;
  /** Innermost declaration around it. */
  readonly node_id?: string;
  readonly test: boolean;
  readonly opaque?: true;
}

export interface ImportRow extends ImportFact {
  readonly file: string;
}

export const SKIP_REASONS = [
  'too_large',
  'binary',
  'parse_timeout',
  'too_many_symbols',
  'parser_crashed',
  'unreadable',
  'grammar_refused',
  'minified',
  'generated',
] as const;
/** `minified` and `generated` go by the file's name; the others by its content, and hold until that changes. */
export type SkipReason = (typeof SKIP_REASONS)[number];

export interface FileRow {
  readonly path: string;
  readonly language: string;
  readonly sha256: string;
  readonly size: number;
  readonly nodes: number;
  readonly problems: number;
  readonly generated: boolean;
  readonly library: boolean;
  /** Why it has no nodes. */
  readonly skipped?: SkipReason;
}

export interface GenerateOptions {
  /** Globs; none: the whole workspace. What ignore files and the list of vendor folders leave out is never indexed. */
  readonly paths?: readonly string[];
  readonly language?: string;
  /** False reparses unchanged files too. Default true. */
  readonly incremental?: boolean;
  /** Default 5000. */
  readonly maxFiles?: number;
  readonly signal?: AbortSignal;
  onProgress?(done: number, total: number): void;
}

export interface GenerateReport {
  readonly parsed: number;
  readonly unchanged: number;
  readonly skipped: readonly { readonly path: string; readonly reason: SkipReason }[];
  /** The first syntax error of every file that has one, at most 1000. */
  readonly errors: readonly { readonly path: string; readonly line: number; readonly message: string }[];
  /** Source files this run was about. */
  readonly files: number;
  /** More files matched than `maxFiles`. */
  readonly truncated: boolean;
}

export interface IndexStats {
  readonly files: number;
  readonly nodes: number;
  /** Files per language. */
  readonly languages: Readonly<Record<string, number>>;
  /** False until the first `generate`, in this process or an earlier one: then the index knows only files that were written. */
  readonly generated: boolean;
  readonly storage: 'disk' | 'memory';
  /** Why rows are not on disk, or what happened to them. */
  readonly note?: string;
  /** The kernel reports changes of other programs; otherwise a question looks for them, at most once a second. */
  readonly watched: boolean;
  /** Why it is not. */
  readonly unwatched?: string;
}

export interface CodeIndex extends AstIndex {
  refresh(changes: readonly FileChange[], signal?: AbortSignal): Promise<void>;
  /** Empty for languages whose grammar is known to see errors where none are. */
  parseProblems(path: string, signal?: AbortSignal): Promise<readonly Violation[]>;
  generate(options?: GenerateOptions): Promise<GenerateReport>;
  /** Throws E_VALIDATION_FAIL for words and values it does not know. */
  query(where: Where, options?: QueryOptions): Promise<QueryAnswer>;
  /** Looked up in the file as it is now. Undefined for an id that names nothing any more. */
  nodeById(id: string): Promise<FoundNode | undefined>;
  /** In file order. The file is looked at; one that is not indexed (ignored, say) is parsed for the answer. */
  /** Names of declarations that are nearly this one, the nearest first. */
  nearNames(name: string): Promise<readonly string[]>;
  nodesOfFile(path: string, options?: { readonly source?: boolean }): Promise<readonly QueryNode[]>;
  outline(path: string): Promise<readonly OutlineNode[]>;
  /** Calls, instantiations and macros of this name, by path and place. */
  references(name: string, options?: FreshOptions & { readonly limit?: number }): Promise<readonly RefRow[]>;
  /** With a pattern as in `Where.name_like`: those whose module or imported name fits. */
  importsOf(path: string, nameLike?: string): Promise<readonly ImportRow[]>;
  /** Imports elsewhere that mean this file, by the index's import resolver. */
  importersOf(path: string, options?: FreshOptions): Promise<readonly ImportRow[]>;
  problemsOf(path: string): Promise<readonly ProblemFact[]>;
  /** How many problems the file had before its content last changed; undefined when that is not known. */
  problemsBefore(path: string): number | undefined;
  /** As indexed, without looking at the file. */
  fileRow(path: string): FileRow | undefined;
  /** Paths of all indexed files, sorted, as indexed. */
  files(): readonly string[];
  stats(): IndexStats;
  /** Whether anything was ever generated here; `stats` says so too, after counting everything. */
  isGenerated(): boolean;
  /** When the last look for changes of other programs began, in milliseconds since 1970. */
  lookedAt(): number;
  /** Brings in what other programs changed, looking at every indexed file and for new ones. */
  catchUp(signal?: AbortSignal): Promise<void>;
  /** Writes what is pending, ends the workers. Nothing may be called afterwards. */
  close(): Promise<void>;
}
