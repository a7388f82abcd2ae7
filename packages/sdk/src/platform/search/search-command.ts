/**
 * The arguments ripgrep is given for a query. No pattern or path is ever taken for an option: the pattern stands
 * behind `-e`, the path behind `--`.
 */

import { TEMPORARY_PREFIX } from '../../contracts/path-text.ts';
import type { SearchQuery } from '../../contracts/search.ts';
import { type GlobPath, parseGlob } from '../../glob/glob-syntax.ts';
import { VENDOR_FOLDERS } from './folder-view.ts';

const OUTPUT = ['--null', '--with-filename', '--line-number', '--column', '--no-heading', '--color=never'];
/** A file that shrinks while it is mapped would end the program, so nothing is mapped. */
const BEHAVIOUR = ['--no-config', '--no-messages', '--no-mmap', '--no-context-separator'];
/** Patterns that compile to more are refused; the defaults allow a gigabyte. */
const PATTERN_LIMITS = ['--regex-size-limit=32M', '--dfa-size-limit=64M'];
/** Only ignore files that git knows, also where there is no repository. */
const IGNORE_FILES = ['--no-ignore-dot', '--no-ignore-global', '--no-require-git'];
const MENTIONS_CARRIAGE_RETURN = /\r|\\r|\\x0d|\\u000d/i;
/** Longer than that, the list of names costs more than it saves. */
const MAX_NAME_PATTERNS = 64;

export interface SearchScope {
  /** Folder to search below, as names from the root. */
  readonly base: readonly string[];
  /** Whether ignore files above the base count; there must be none outside the root then. */
  readonly readsParents: boolean;
}

export function searchArguments(query: SearchQuery, { base, readsParents }: SearchScope): readonly string[] {
  const { pattern, report = 'lines' } = query;
  return [
    ...BEHAVIOUR,
    ...OUTPUT,
    ...PATTERN_LIMITS,
    ...(query.fixed ? ['--fixed-strings'] : []),
    query.caseSensitive ? '--case-sensitive' : '--ignore-case',
    ...(query.word ? ['--word-regexp'] : []),
    ...(query.multiline ? ['--multiline'] : []),
    // `$` then also matches before a carriage return; ripgrep allows no other mention of one.
    ...(MENTIONS_CARRIAGE_RETURN.test(pattern) ? [] : ['--crlf']),
    ...(report === 'lines' && query.context > 0 ? [`--context=${query.context}`] : []),
    ...(report === 'counts' ? [] : [`--max-count=${report === 'files' ? 1 : query.maxResults + 1}`]),
    ...(query.includeHidden ? ['--hidden'] : []),
    ...(query.includeIgnored ? ['--no-ignore'] : [...IGNORE_FILES, ...(readsParents ? [] : ['--no-ignore-parent'])]),
    '--glob=!.git',
    `--glob=!${TEMPORARY_PREFIX}*`,
    ...(query.includeIgnored ? [] : VENDOR_FOLDERS.map((name) => `--glob=!${name}/`)),
    ...nameFilter(query.globs),
    '-e',
    pattern,
    '--',
    `./${base.join('/')}`,
  ];
}

/**
 * Keeps ripgrep from reading files whose last name no glob accepts. Its own globs mean other things than ours and
 * would also override ignore files; its file types do neither, and a superset is enough: every path is checked again.
 */
function nameFilter(globs: readonly string[]): readonly string[] {
  const names = new Set(globs.flatMap(parseGlob).map(widenedName));
  if (names.size === 0 || names.size > MAX_NAME_PATTERNS || names.has('*')) return [];
  return [...[...names].map((name) => `--type-add=wanted:${name}`), '--type=wanted'];
}

/** The last segment, every wildcard widened to `*`. */
function widenedName(path: GlobPath): string {
  const last = path.at(-1);
  if (last === undefined || last.type === 'globstar') return '*';
  if (last.type === 'literal') return escaped(last.text);
  let name = '';
  for (const token of last.tokens) {
    if (token.type === 'char') name += escaped(String.fromCharCode(token.code));
    else if (!name.endsWith('*') || name.endsWith('\\*')) name += '*';
  }
  return name.isWellFormed() ? name : '*';
}

function escaped(text: string): string {
  if (!text.isWellFormed() && text.length > 1) return '*';
  return text.replace(/[\\*?[\]{}!,]/g, '\\$&');
}
