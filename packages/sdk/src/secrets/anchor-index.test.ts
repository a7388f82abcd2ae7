import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type Anchored, createAnchorIndex } from './anchor-index.ts';
import { PRESET_RULES } from './preset-rules.ts';
import { SHAPE_DETECTORS } from './shape-detectors.ts';

const LITERALS = ['sg.', 'secret', 'secret_access', 'ret', '://', '-----begin', 'a3t', 'xoxb-', 'sk_live_', '\\u00'];

function hitsIn(
  text: string,
  detectors: readonly Anchored[],
): { readonly anchors: readonly string[]; readonly offset: number }[] {
  const hits: { anchors: readonly string[]; offset: number }[] = [];
  createAnchorIndex(detectors).visit(text, ({ anchors }, offset) => hits.push({ anchors, offset }));
  return hits;
}

/** Every place by the plainest means. */
function placesOf(literal: string, text: string): readonly number[] {
  const folded = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  const places: number[] = [];
  for (let at = folded.indexOf(literal); at !== -1; at = folded.indexOf(literal, at + 1)) places.push(at);
  return places;
}

describe('the anchor index', () => {
  test('reports every place of every literal, overlapping or not, in any case [S0-67] (deep)', () => {
    const piece = fc.oneof(
      fc.constantFrom(...LITERALS),
      fc.constantFrom(...LITERALS).map((literal) => literal.toUpperCase()),
      fc.constantFrom('', 'se', 'cret', '-', '--', '\u0153', '\u{1f511}', '\ud800', '\n'),
      fc.string({ maxLength: 5, unit: 'binary' }),
    );
    const detectors = LITERALS.map((literal) => ({ anchors: [literal] }));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const text = pieces.join('');
        const hits = hitsIn(text, detectors);
        for (const literal of LITERALS) {
          const found = new Set(hits.filter(({ anchors }) => anchors[0] === literal).map(({ offset }) => offset));
          for (const place of placesOf(literal, text)) assert.ok(found.has(place), `${literal} at ${place}`);
        }
      }),
    );
  });

  test('reports nothing where no literal stands [S0-67]', () => {
    const detectors = LITERALS.map((literal) => ({ anchors: [literal] }));
    assert.deepEqual(hitsIn('const answer = 42; // plain words\n'.repeat(50), detectors), []);
  });

  test('calls every detector that shares a literal [S0-67]', () => {
    const [one, other] = [{ anchors: ['://'] }, { anchors: ['://', 'sg.'] }];
    assert.deepEqual(
      hitsIn('a://b', [one, other]).map(({ offset }) => offset),
      [1, 1],
    );
  });

  test('refuses a literal below three characters [S0-67]', () => {
    assert.throws(() => createAnchorIndex([{ anchors: ['sg'] }]), TypeError);
  });

  test('offers no more places than there are characters, on texts made of nothing but anchors [S0-67]', () => {
    const detectors = [...SHAPE_DETECTORS, ...PRESET_RULES];
    for (const anchor of [...new Set(detectors.flatMap((detector) => detector.anchors)), 'a', '-', 'sk_livesk_live']) {
      const once = hitsIn(anchor.repeat(200), detectors).length;
      const twice = hitsIn(anchor.repeat(400), detectors).length;
      assert.ok(once <= 200 * anchor.length, `${anchor}: ${once}`);
      assert.ok(twice <= 2 * once + 10, `${anchor}: ${once} then ${twice}`);
    }
  });
});
