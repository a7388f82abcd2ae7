/**
 * What another parser says of a text that a grammar reports as broken. Grammars are made by hand and lag behind their
 * languages; a file counts as broken only where the other parser agrees. Asked on the error path alone.
 */
import nodeModule from 'node:module';

export type Opinion =
  | { readonly isSound: true }
  /** The place of the first bad token where the other parser names one: from 1, columns in UTF-16 units. */
  | { readonly isSound: false; readonly message: string; readonly line?: number; readonly col?: number };

const OPINIONS: Readonly<Record<string, (text: string) => Opinion | undefined>> = { typescript };

/** Undefined where there is no other parser, or it has no opinion. */
export function secondOpinion(language: string, text: string): Opinion | undefined {
  return OPINIONS[language]?.(text);
}

/** Node's own parser of TypeScript. It parses everything before it says which syntax it cannot strip. */
function typescript(text: string): Opinion | undefined {
  // Some supported versions of Node lack it.
  const strip: typeof nodeModule.stripTypeScriptTypes | undefined = nodeModule.stripTypeScriptTypes;
  if (strip === undefined) return undefined;
  const { emitWarning } = process;
  // Node warns on stderr that the function is experimental; stderr belongs to the program we are part of.
  process.emitWarning = () => undefined;
  try {
    strip(text.replace(/^\uFEFF/, ' '), { mode: 'strip' });
    return { isSound: true };
  } catch (thrown) {
    return opinionOf(thrown);
  } finally {
    process.emitWarning = emitWarning;
  }
}

function opinionOf(thrown: unknown): Opinion | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown)) return undefined;
  if (thrown.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return { isSound: true };
  if (thrown.code !== 'ERR_INVALID_TYPESCRIPT_SYNTAX') return undefined;
  const message = thrown.message.split('. Expected')[0] ?? '';
  return { isSound: false, message, ...placeIn(thrown.stack ?? '') };
}

/** The stack begins with the line, then shows lines of the text with a caret under the bad token. */
function placeIn(stack: string): { readonly line?: number; readonly col?: number } {
  const line = /^[^\n]*:(\d+)\n/.exec(stack)?.[1];
  if (line === undefined) return {};
  const caret = /\n( *)\^+(?:\n|$)/.exec(stack)?.[1];
  // Without a caret the text ends too early, and the line that is shown is its last.
  const shown = stack.split('\n')[1]?.trimEnd() ?? '';
  return { line: Number(line), col: (caret ?? shown).length + 1 };
}
