/**
 * One line of an ignore file, read as git reads it: in which folders it applies, and to which names there.
 *
 * Nearly every pattern falls apart at its last slash, so its folder part is settled once per folder and not once per
 * name. All texts are byte strings, see `ignore-wild.ts`.
 */
import { compileIgnoreWild, type IgnoreTokens, type IgnoreWild, isSlash, parseIgnorePattern } from './ignore-wild.ts';

/** Longer lines cannot be meant for a real path, and matching costs their length. */
const MAX_PATTERN_BYTES = 4096;

export interface IgnorePattern {
  readonly negated: boolean;
  readonly directoryOnly: boolean;
  readonly folder: FolderPattern;
  readonly name: NamePattern;
}

/** Folders are relative to the ignore file's own, with a trailing slash; its own is empty. */
export type FolderPattern = { readonly type: 'any' } | { readonly type: 'literal'; readonly text: string } | WildFolder;

/** Two facts about every matching folder spare building its path most of the time. */
export interface WildFolder {
  readonly type: 'wild';
  /** How its last name ends. */
  readonly endsIn: string;
  /** Undefined: any. */
  readonly depth: number | undefined;
  matches(folder: string): boolean;
}

export type NamePattern =
  | { readonly type: 'literal'; readonly text: string }
  | { readonly type: 'affixes'; readonly head: string; readonly tail: string }
  /** `path` is the folder and the name: the rare pattern whose last part still crosses folders. */
  | { readonly type: 'wild'; readonly subject: 'name' | 'path'; readonly matches: IgnoreWild; readonly weight: number };

/** Undefined for a line that can never match. */
export function readIgnoreLine(line: string): IgnorePattern | undefined {
  const text = withoutTrailingSpaces(line);
  const negated = text.startsWith('!');
  const body = negated ? text.slice(1) : text;
  const directoryOnly = body.endsWith('/');
  const pattern = directoryOnly ? body.slice(0, -1) : body;
  if (pattern === '' || pattern.length > MAX_PATTERN_BYTES) return undefined;
  const target = pattern.includes('/') ? readPath(pattern) : readName(pattern);
  return target && { negated, directoryOnly, ...target };
}

/** Spaces count only behind a backslash; tabs always count. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line.charAt(end - 1) === ' ') end -= 1;
  if (end === line.length) return line;
  let backslashes = 0;
  while (backslashes < end && line.charAt(end - 1 - backslashes) === '\\') backslashes += 1;
  return line.slice(0, backslashes % 2 === 1 ? end + 1 : end);
}

interface Target {
  readonly folder: FolderPattern;
  readonly name: NamePattern;
}

const EVERYTHING: NamePattern = { type: 'affixes', head: '', tail: '' };
const anyFolder: FolderPattern = { type: 'wild', endsIn: '', depth: undefined, matches: () => true };

function readName(pattern: string): Target | undefined {
  const tokens = parseIgnorePattern(pattern);
  return tokens && { folder: { type: 'any' }, name: namePattern(tokens) };
}

function readPath(pattern: string): Target | undefined {
  const tokens = parseIgnorePattern(pattern.startsWith('/') ? pattern.slice(1) : pattern);
  if (tokens === undefined || tokens.length === 0) return undefined;
  const nameAt = tokens.findLastIndex(isSlash) + 1;
  const [above, last] = [tokens.slice(0, nameAt), tokens.slice(nameAt)];
  if (tokens.some(isInsideName)) return wholePath(tokens);
  if (last.length === 0) return undefined;
  if (!last.some(({ type }) => type === 'globstar')) return { folder: folderPattern(above), name: namePattern(last) };
  if (last.length === 1) return { folder: everyFolderBelow(above), name: EVERYTHING };
  return wholePath(tokens);
}

function wholePath(tokens: IgnoreTokens): Target {
  const matches = compileIgnoreWild(tokens);
  return { folder: anyFolder, name: { type: 'wild', subject: 'path', matches, weight: tokens.length } };
}

/** Git lets `a**` + `/b` match `ab`: folders left out in the middle of a name take the slash with them. */
function isInsideName(token: IgnoreTokens[number], at: number, tokens: IgnoreTokens): boolean {
  const previous = tokens[at - 1];
  return token.type === 'optional-folders' && previous !== undefined && !isSlash(previous);
}

/** A star inside one name is a star, however many of them there are. */
function namePattern(tokens: IgnoreTokens): NamePattern {
  const isStar = (token: IgnoreTokens[number]): boolean => token.type === 'star' || token.type === 'globstar';
  const star = tokens.findIndex(isStar);
  const head = literalText(star < 0 ? tokens : tokens.slice(0, star));
  const tail = star < 0 ? '' : literalText(tokens.slice(star + 1));
  if (head !== undefined && tail !== undefined) {
    return star < 0 ? { type: 'literal', text: head } : { type: 'affixes', head, tail };
  }
  return { type: 'wild', subject: 'name', matches: compileIgnoreWild(tokens), weight: tokens.length };
}

function folderPattern(tokens: IgnoreTokens): FolderPattern {
  const text = literalText(tokens);
  if (text !== undefined) return { type: 'literal', text };
  // `**/name` is `name` anywhere.
  if (tokens.length === 3 && tokens[0]?.type === 'optional-folders') return { type: 'any' };
  const depth = tokens.some(({ type }) => type === 'globstar') ? undefined : tokens.filter(isSlash).length;
  return { type: 'wild', endsIn: lastNameEnd(tokens), depth, matches: compileIgnoreWild(tokens) };
}

/** What `folder/**` needs: the folder pattern fits this folder or one above it. Any name settles that alike. */
function everyFolderBelow(above: IgnoreTokens): FolderPattern {
  const text = literalText(above);
  const matches = compileIgnoreWild([...above, { type: 'globstar' }]);
  return {
    type: 'wild',
    endsIn: '',
    depth: undefined,
    matches: text === undefined ? matches : (folder) => folder.startsWith(text),
  };
}

/** The literal end of a folder pattern, as far as it lies in the last name. */
function lastNameEnd(tokens: IgnoreTokens): string {
  const names = tokens.slice(0, -1);
  const from = names.findLastIndex((token) => token.type !== 'byte' || isSlash(token)) + 1;
  return literalText(names.slice(from)) ?? '';
}

function literalText(tokens: IgnoreTokens): string | undefined {
  let text = '';
  for (const token of tokens) {
    if (token.type !== 'byte') return undefined;
    text += String.fromCharCode(token.code);
  }
  return text;
}
