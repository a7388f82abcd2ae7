/** Globs: ours against a slow matcher written from the same words, and against picomatch where both mean the same. */
import assert from 'node:assert/strict';
import { isToolError } from '@tool-runtime/protocol';
import picomatch from 'picomatch';
import { parseGlob } from '../../../packages/sdk/src/glob/glob-syntax.ts';
import { walkGlobs } from '../../../packages/sdk/src/glob/glob-walk.ts';
import { compileGlob, compileGlobs, globCovers, intersectGlobs } from '../../../packages/sdk/src/glob/match-glob.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { globsAndText } from '../glob/odd-globs.ts';
import { matchesSlowly, withoutBraces } from '../glob/slow-glob.ts';
import { splitParts } from '../input-parts.ts';

export const globs: FuzzTarget = {
  name: 'globs',
  holds: 'a glob matches what its words say, covers only what it matches, and never takes long',
  maxBytes: 8 * 1024,
  tokens: [
    '*',
    '**',
    '?',
    '/',
    '**/',
    '/**',
    '[',
    ']',
    '[!',
    '[^',
    '-',
    '{',
    '}',
    ',',
    '\\',
    '.',
    '..',
    './',
    'a',
    'b',
    '\n%%\n',
    '!',
    '[[:alpha:]]',
  ].concat(['{1..3}', '@(a|b)', '\0', '\ud83d\ude00']),
  inputs: globsAndText,
  open: () => ({
    check(input) {
      const [first = '', second = '', value = ''] = splitParts(input, 3).map(String);
      const [one, other] = [judge(first, value), judge(second, value)];
      if (typeof one === 'string' || typeof other === 'string') return `${String(one)}, ${String(other)}`;
      checkTogether(first, second, { value, one, other });
      return `${one} ${other}`;
    },
    measure(input) {
      const [first = '', , value = ''] = splitParts(input, 3).map(String);
      if (typeof judgeOnly(first) !== 'string') compileGlob(first)(value);
    },
  }),
};

/** Why a pattern is refused, or nothing. */
function judgeOnly(glob: string): string | undefined {
  try {
    parseGlob(glob);
    return undefined;
  } catch (thrown) {
    assert.ok(isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL', `not a refusal: ${String(thrown)}`);
    return String(thrown.details['why']).replace(/\d+/g, '…');
  }
}

function judge(glob: string, value: string): boolean | string {
  const why = judgeOnly(glob);
  if (why !== undefined) return why;
  const isMatch = compileGlob(glob)(value);
  assert.equal(compileGlobs([glob])(value), isMatch, 'alone and in a list it means different things');
  if (glob.length <= 64 && value.length <= 64) {
    assert.equal(isMatch, matchesSlowly(glob, value), `it means something else: ${glob} on ${value}`);
  }
  if (isSharedWithPicomatch(glob, value)) {
    assert.equal(
      isMatch,
      picomatch(glob, { dot: true, noextglob: true })(value),
      `picomatch says otherwise: ${glob} on ${value}`,
    );
  }
  if (arePlainNames(value)) assert.equal(walked(glob, value), isMatch, `walking says otherwise: ${glob} on ${value}`);
  return isMatch;
}

/**
 * Where both dialects say the same. Picomatch wavers about dots, about `**` behind a wildcard, about empty segments,
 * and about stars beside each other; what it does with escapes and odd classes is its own.
 */
function isSharedWithPicomatch(glob: string, value: string): boolean {
  if (!/^[abc/*?{},[\]^-]{1,40}$/.test(glob) || !/^[abc-]+(?:\/[abc-]+)*$/.test(value)) return false;
  if (/\/\/|^\/|\/$|[^/]\*\*|\*\*[^/]|\*[^/]*\/\*\*$|\*\}\/\*\*|\[\^?[\^\]-]|-\]|\[[^\]]*[/*?{},[]/.test(glob))
    return false;
  if (/[{},][^{}]*\/|\/[^{}]*[,}]|\{[^{}]*\{|\*\*[^/]*[,}]/.test(glob)) return false;
  if (/[,{][,}]|\^(?<!\[\^)/.test(glob) || glob.split('{').length > 4) return false;
  // Two stars that braces put side by side are a whole `**` here, as in a shell, which replaces braces first: `{a,*}*` is
  // `a*` and `**`. To picomatch they are choices inside one segment, and that never crosses a slash.
  return !glob.includes('{') || !withoutBraces(glob).some((alternative) => alternative.split('/').at(-1) === '**');
}

function arePlainNames(value: string): boolean {
  return value !== '' && value.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

function walked(glob: string, value: string): boolean {
  const names = value.split('/');
  const last = names.pop() ?? '';
  let level: ReturnType<typeof walkGlobs> | undefined = walkGlobs([glob]);
  for (const name of names) level = level?.enter(name);
  return level?.matches(last) === true;
}

interface Matches {
  readonly value: string;
  readonly one: boolean;
  readonly other: boolean;
}

/** What is said about two patterns holds for the text at hand. */
function checkTogether(first: string, second: string, { value, one, other }: Matches): void {
  if (globCovers(first, second))
    assert.ok(one || !other, `said to cover: ${first} over ${second}, but not on ${value}`);
  if (globCovers(second, first))
    assert.ok(other || !one, `said to cover: ${second} over ${first}, but not on ${value}`);
  const both = intersectGlobs([first], [second]);
  if (compileGlobs(both)(value)) assert.ok(one && other, `together they match what alone they do not: ${value}`);
}
