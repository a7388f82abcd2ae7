/** Pairs of globs that have much in common, and texts that at least one of them nearly matches. */
import fc from 'fast-check';
import { joinParts } from '../input-parts.ts';

const PIECES = [
  'a',
  'b',
  '*',
  '?',
  'ab',
  '[ab]',
  '[^a]',
  '[!b]',
  '[a-c]',
  '{a,b}',
  '{a,b*}',
  '-',
  '.',
  '..',
  '\\*',
  'é',
];

const piece = fc.constantFrom(...PIECES);
const segment = fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join(''));
const pattern = fc
  .array(fc.oneof({ weight: 3, arbitrary: segment }, { weight: 1, arbitrary: fc.constantFrom('**', '.', '') }), {
    minLength: 1,
    maxLength: 4,
  })
  .map((parts) => parts.join('/'));

/** The same with one wildcard, or one character, replaced. */
const sibling = (glob: string): fc.Arbitrary<string> =>
  fc.tuple(fc.nat({ max: 20 }), piece).map(([at, other]) => {
    const tokens = glob.match(/\*+|\[[^\]]*\]|\\.|[\s\S]/g) ?? [];
    tokens[at % Math.max(1, tokens.length)] = other;
    return tokens.join('');
  });

const filling = fc.constantFrom('', 'a', 'ab', 'c', 'a/b');

/** What the wildcards of a glob could match, with one character too few at times. */
const instance = (glob: string): fc.Arbitrary<string> =>
  fc.tuple(fc.array(filling, { minLength: 4, maxLength: 4 }), fc.nat({ max: 12 })).map(([fillings, drop]) => {
    let count = 0;
    const text = glob
      .replace(/\{([^{},]*)[^{}]*\}/g, '$1')
      .replace(/\[[^\]]*\]|\?/g, 'a')
      .replace(/\*+/g, () => fillings[count++ % fillings.length] ?? '')
      .replaceAll('\\', '');
    return text.slice(0, drop) + text.slice(drop + 1);
  });

const text = fc
  .array(fc.stringMatching(/^[abc.é-]{0,4}$/), { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('/'));

export const globsAndText: fc.Arbitrary<Buffer> = pattern.chain((glob) =>
  fc
    .tuple(fc.oneof(pattern, sibling(glob)), fc.oneof(text, instance(glob)), fc.boolean())
    .map(([other, value, isSwapped]) => (isSwapped ? joinParts(other, glob, value) : joinParts(glob, other, value))),
);
