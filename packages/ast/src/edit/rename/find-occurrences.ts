/** Every occurrence of a declaration's name as a word, with what the tree says about the place. */
import { isToolError } from '@tool-runtime/protocol';
import type { NodeFact } from '../../contracts/facts.ts';
import type { ParsedSource } from '../../parse/source-parser.ts';
import { decodeSource } from '../../parse/source-text.ts';
import { resolveScopes } from '../../scope/resolve-scopes.ts';
import type { Target } from '../edit-desk.ts';
import type { Residual, ResidualKind } from '../edit-plan.ts';
import type { Work } from '../work.ts';

export interface Occurrence extends Residual {
  /** Bytes. */
  readonly start: number;
}

const WORD = /[\p{ID_Continue}$]/u;

/** For a member: those that scopes bind to something else are left out. */
export async function findOccurrences(
  target: Target,
  { desk }: Work,
  isWanted: (path: string) => boolean,
): Promise<readonly Occurrence[]> {
  const { index, engine } = desk.parts;
  const wanted = Buffer.from(target.node.name);
  const found: Occurrence[] = [];
  for (const path of desk.files.list()) {
    desk.throwIfAborted();
    const bytes = desk.files.read(path);
    if (bytes === undefined || !isWanted(path)) continue;
    if (!Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(wanted)) continue;
    const language = index.fileRow(path)?.language ?? engine.detect(path);
    if (language === undefined) continue;
    const parser = await engine.parserFor(language);
    try {
      const parsed = parser.parse(decodeSource(bytes, path), { path });
      try {
        found.push(...occurrencesIn(path, parsed, target.node));
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

function occurrencesIn(path: string, parsed: ParsedSource, { name, type }: NodeFact): readonly Occurrence[] {
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
