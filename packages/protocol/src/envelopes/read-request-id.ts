/**
 * Finds whom to answer when a message was refused before it could be parsed.
 *
 * Walks only the outermost members and gives up on any doubt: a second `request_id`, unbalanced brackets, text after
 * the object. The id names the addressee of an error message and nothing else is done with it.
 *
 * Of a message that was too large to be kept there are only the two ends.
 */

import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipWhitespace,
  stringEnd,
} from '../primitives/json-tokens.ts';
import { idSchema } from './fields.ts';

export function readRequestId(text: string): string | null {
  return walk(text, { isHead: false });
}

/** Null where the ends name none, or two. */
export function readIdOfEnds(head: string, tail: string): string | null {
  const first = walk(head, { isHead: true });
  const last = idBeforeEnd(tail);
  if (first !== null && last !== null && first !== last) return null;
  return first ?? last;
}

/** The last members of an object, all of them scalar, up to its closing brace and the end of the text. */
const LAST_MEMBERS =
  /[,{]\s*"request_id"\s*:\s*("(?:[^"\\]|\\.)*")(?:\s*,\s*"(?:[^"\\]|\\.)*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|[-+.\w]+))*\s*\}\s*$/;

function idBeforeEnd(tail: string): string | null {
  const literal = LAST_MEMBERS.exec(tail)?.[1];
  return literal === undefined ? null : idIn(literal);
}

function idIn(literal: string): string | null {
  try {
    const id = idSchema.safeParse(JSON.parse(literal));
    return id.success ? id.data : null;
  } catch {
    // An escape that JSON does not know.
    return null;
  }
}

/** `isHead`: the text may end anywhere. */
function walk(text: string, { isHead }: { readonly isHead: boolean }): string | null {
  let depth = 0;
  let found: string | null = null;
  for (let at = skipWhitespace(text, 0); at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (depth === 0 && code !== OPEN_BRACE) return null;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      depth--;
      if (depth === 0) return skipWhitespace(text, at + 1) === text.length ? found : null;
    } else if (code === QUOTE) {
      const end = stringEnd(text, at);
      if (end < 0) return isHead ? found : null;
      if (depth === 1 && isRequestIdKey(text, at, end)) {
        if (found !== null) return null;
        found = idAfterColon(text, end);
        if (found === null) return null;
      }
      at = end - 1;
    }
  }
  return isHead ? found : null;
}

function isRequestIdKey(text: string, start: number, end: number): boolean {
  if (text.charCodeAt(skipWhitespace(text, end)) !== COLON) return false;
  return JSON.parse(text.slice(start, end)) === 'request_id';
}

function idAfterColon(text: string, keyEnd: number): string | null {
  const start = skipWhitespace(text, skipWhitespace(text, keyEnd) + 1);
  const end = text.charCodeAt(start) === QUOTE ? stringEnd(text, start) : -1;
  if (end < 0) return null;
  return idIn(text.slice(start, end));
}
