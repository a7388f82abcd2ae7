/** Every occurrence of a declaration's name as a word, with what the tree says about the place. */
import { isToolError, type ToolError } from '@tool-runtime/protocol';
import type { Node } from 'web-tree-sitter';
import type { CodeIndex } from '../../contracts/code-index-contract.ts';
import type { NodeFact } from '../../contracts/facts.ts';
import type { LanguageServer } from '../../lsp/language-server.ts';
import { languageId } from '../../lsp/server-session.ts';
import type { ParsedSource } from '../../parse/source-parser.ts';
import { decodeSource } from '../../parse/source-text.ts';
import { resolveScopes } from '../../scope/resolve-scopes.ts';
import type { ProjectFiles } from '../../scope/scope-model.ts';
import type { Engine } from '../../symbols/engine.ts';
import type { Target } from '../edit-desk.ts';
import { refuseEdit, throwIfAborted } from '../edit-failures.ts';
import type { Residual, ResidualKind } from '../edit-plan.ts';
import { toServerPlace } from '../server-places.ts';
import type { Work } from '../work.ts';

export interface Occurrence extends Residual {
  /** Bytes. */
  readonly start: number;
}

const WORD = /[\p{ID_Continue}$]/u;

export interface OccurrenceSearch {
  readonly node: Pick<NodeFact, 'name' | 'type'>;
  readonly files: ProjectFiles;
  readonly index: Pick<CodeIndex, 'fileRow'>;
  readonly engine: Engine;
  readonly signal?: AbortSignal | undefined;
  isWanted(path: string): boolean;
}

/** For a member: those that scopes bind to something else are left out. */
export async function findOccurrences(search: OccurrenceSearch): Promise<readonly Occurrence[]> {
  const { node, files, index, engine, signal, isWanted } = search;
  const wanted = Buffer.from(node.name);
  const found: Occurrence[] = [];
  for (const path of files.list()) {
    throwIfAborted(signal);
    const bytes = isWanted(path) ? files.read(path) : undefined;
    if (bytes === undefined) continue;
    if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(wanted)) continue;
    const language = index.fileRow(path)?.language ?? engine.detect(path);
    if (language === undefined) continue;
    const parser = await engine.parserFor(language);
    try {
      const parsed = parser.parse(decodeSource(bytes, path), { path });
      try {
        found.push(...occurrencesIn(path, parsed, node));
      } finally {
        parsed.delete();
      }
    } catch (thrown) {
      if (!isToolError(thrown)) throw thrown;
      found.push({ file: path, line: 1, col: 1, kind: 'unparsed', start: -1 });
    }
  }
  return found;
}

/** Reached through an object only: what scopes bind is never it. */
const MEMBERS: readonly string[] = ['method', 'field', 'variant'];

function occurrencesIn(
  path: string,
  parsed: ParsedSource,
  { name, type }: OccurrenceSearch['node'],
): readonly Occurrence[] {
  const { source, tree, parser } = parsed;
  const { text } = source;
  const isMember = MEMBERS.includes(type);
  const scopes = parser.queries.locals === undefined || !isMember ? undefined : resolveScopes(parsed);
  const hasErrors = tree.rootNode.hasError;
  const found: Occurrence[] = [];
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + name.length)) {
    if (WORD.test(text.charAt(at - 1)) || WORD.test(text.charAt(at + name.length))) continue;
    const token = scopes?.tokenAt(at);
    if (token?.binding !== undefined && token.shorthand === undefined) continue;
    const row = source.rowOf(at);
    const kind = kindAt(parsed, at, hasErrors);
    const start = source.toByte(at);
    found.push({ file: path, line: row + 1, col: at - source.lineStart(row) + 1, kind, start });
  }
  return found;
}

function kindAt({ tree, parser }: ParsedSource, at: number, hasErrors: boolean): ResidualKind {
  const { kinds } = parser.profile;
  for (let node = tree.rootNode.descendantForIndex(at, at); node !== null; node = node.parent) {
    if (kinds.comment.includes(node.type)) return 'comment';
    if (kinds.string.includes(node.type)) return 'string';
    if (kinds.opaque.includes(node.type)) return 'macro';
    if (kinds.member.includes(node.type)) return 'member';
  }
  return hasErrors ? 'unparsed' : 'code';
}

/** Occurrences the server is asked about; the others count as not known. */
const MAX_QUESTIONS = 200;

/**
 * What bears the old name after a rename that only a server planned: a server does not say what it left out.
 *
 * Every occurrence it did not touch is classified: bound by scope to something else, a comment, a string; for the rest the
 * server itself is asked what it means. An answer that leads to the target proves that its plan was not whole.
 *
 * Throws E_AST_EDIT with `server_partial`.
 */
export async function auditServer(
  target: Target,
  edits: readonly NameEdit[],
  server: LanguageServer,
  work: Work,
): Promise<readonly Residual[]> {
  const edited = new Set(edits.map(placeKey));
  const residual: Residual[] = [];
  let questions = 0;
  const provider = work.servers?.providers.find(({ name }) => name === server.provider);
  const isSeen = (path: string) => provider !== undefined && languageId(provider, path) !== undefined;
  const { files, parts } = work.desk;
  for (const { start, ...one } of await findOccurrences({ ...parts, files, node: target.node, isWanted: isSeen })) {
    if (edited.has(placeKey({ path: one.file, start }))) continue;
    const isCode = one.kind === 'member' || one.kind === 'code';
    if (isCode && questions++ < MAX_QUESTIONS) {
      const meant = await askMeaning(target, { ...one, start }, server, work);
      if (meant.length > 0 && !(await mayBePassed(target, { ...one, start }, meant, work))) continue;
    }
    residual.push(one);
  }
  return residual;
}

/** Where the server says that the name is declared; none when it does not know. Throws when that is the target. */
async function askMeaning(
  target: Target,
  one: Occurrence,
  server: LanguageServer,
  work: Work,
): Promise<readonly Meaning[]> {
  const { desk, serverTimeoutMs: timeoutMs } = work;
  const { signal } = desk.parts;
  const draft = await desk.draft(one.file);
  const origin = draft.origin(one.start, one.start + Buffer.byteLength(target.node.name));
  const own = target.draft.origin(target.node.nameSpan.start, target.node.nameSpan.end);
  if (origin === undefined || own === undefined) return [];
  const place = { path: one.file, ...toServerPlace(draft.onDisk, origin.start) };
  try {
    const meant = await server.definition(place, { timeoutMs, ...(signal === undefined ? {} : { signal }) });
    const home = toServerPlace(target.draft.onDisk, own.start);
    const isTarget = meant.some(
      ({ path, startLine, startCharacter }) =>
        path === target.draft.path && startLine === home.line && startCharacter === home.character,
    );
    if (isTarget) throw partial(one);
    return meant.map(({ path, startLine, startCharacter }) => ({
      isItself: path === place.path && startLine === place.line && startCharacter === place.character,
    }));
  } catch (thrown) {
    throwIfAborted(signal);
    if (!isToolError(thrown) || thrown.code === 'E_AST_EDIT') throw thrown;
    return [];
  }
}

interface Meaning {
  /** The name is declared where it stands. */
  readonly isItself: boolean;
}

/**
 * Whether the name is a key of an object without a declared type that has all members the target's type demands. Such an
 * object can be passed where that type is wanted, and no server renames the key.
 */
async function mayBePassed(
  { draft, node }: Target,
  one: Occurrence,
  meant: readonly Meaning[],
  { desk }: Work,
): Promise<boolean> {
  if (!MEMBERS.includes(node.type)) return false;
  const { parsed, source } = await desk.draft(one.file);
  const at = source.toOffset(one.start);
  const key = parsed.tree.rootNode.descendantForIndex(at, at);
  const isShort = key?.type === 'shorthand_property_identifier';
  const object = isShort ? key.parent : key?.parent?.parent;
  // What a shorthand stands for is one meaning; a declared type of the object would be another.
  const isUntyped = isShort ? meant.length === 1 : meant.some(({ isItself }) => isItself);
  if (object?.type !== 'object' || !isUntyped) return false;
  if (object.namedChildren.some((child) => child?.type === 'spread_element')) return true;
  const keys = new Set(object.namedChildren.map((child) => keyOf(child)));
  return draft.facts.nodes
    .filter(({ parent, type, signature }) => parent === node.parent && MEMBERS.includes(type) && !isOptional(signature))
    .every(({ name }) => keys.has(name));
}

function keyOf(member: Node | null): string | undefined {
  return (member?.childForFieldName('key') ?? member?.childForFieldName('name') ?? member)?.text;
}

function isOptional(signature: string): boolean {
  return /^[^:(]*\?/.test(signature);
}

function partial({ file, line, col }: Occurrence): ToolError {
  return refuseEdit('server_partial', `Language server left out a use it knows: ${file}:${line}`, {
    path: file,
    next: 'try again when the server has read the whole project',
    details: { line, col },
  });
}

/** One place that gets the new name, in bytes of the draft as it is now. */
export interface NameEdit {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly newText: string;
}

/** Two engines speak of the same place when they change the same occurrence of the old name. */
export function placeKey({ path, start }: Pick<NameEdit, 'path' | 'start'>): string {
  return `${path}\0${start}`;
}
