import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { REDACTED } from './find-values.ts';
import { KnownValues } from './known-values.ts';

/** Few letters, so that values overlap, repeat and contain one another. */
const letters = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '𝄞', '\n'), minLength: 4, maxLength: 9 });
const values = fc.array(letters, { minLength: 1, maxLength: 4 });

function pieces(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((one, other) => one - other);
  return ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end));
}

function streamed(known: KnownValues, chunks: readonly Uint8Array[], count = { masked: 0 }): Buffer {
  const filter = known.stream(count);
  return Buffer.concat([...chunks.map((chunk) => filter.push(chunk)), filter.end()]);
}

describe('known values in a stream', () => {
  test('the output is that of the whole, however it was cut into chunks', () => {
    const parts = fc.array(fc.oneof(letters, fc.string({ maxLength: 6 })), { maxLength: 12 });
    fc.assert(
      fc.property(values, parts, fc.array(fc.nat(), { maxLength: 8 }), (secrets, texts, cuts) => {
        const known = new KnownValues(secrets);
        const text = [...texts, ...secrets, ...texts].join('').toWellFormed();
        const bytes = Buffer.from(text);
        const counts = [{ masked: 0 }, { masked: 0 }, { masked: 0 }] as const;
        assert.equal(streamed(known, pieces(bytes, cuts), counts[0]).toString(), known.text(text, counts[1]));
        known.bytes(bytes, counts[2]);
        assert.equal(counts[0].masked, counts[1].masked);
        assert.equal(counts[0].masked, counts[2].masked);
        assert.deepEqual(Buffer.from(known.bytes(bytes)), streamed(known, [bytes]));
      }),
      { numRuns: 2000 },
    );
  });

  test('no value survives one byte at a time', () => {
    fc.assert(
      fc.property(values, fc.uint8Array({ maxLength: 40 }), (secrets, noise) => {
        const bytes = Buffer.concat([noise, ...secrets.flatMap((secret) => [Buffer.from(secret), noise])]);
        const clean = streamed(
          new KnownValues(secrets),
          Array.from(bytes, (byte) => Uint8Array.of(byte)),
        );
        const rest = clean.toString('latin1').split(REDACTED);
        for (const secret of secrets) {
          const plain = Buffer.from(secret).toString('latin1');
          assert.ok(rest.every((piece) => !piece.includes(plain)));
        }
      }),
    );
  });

  test('bytes without a value pass unchanged, also those that are no text', () => {
    const known = new KnownValues(['correct-horse-battery-staple']);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(), { maxLength: 5 }), (bytes, cuts) => {
        assert.deepEqual(streamed(known, pieces(bytes, cuts)), Buffer.from(bytes));
        assert.equal(known.bytes(bytes), bytes);
      }),
    );
    const chunk = Buffer.from([0, 255, 128]);
    assert.equal(new KnownValues([]).stream().push(chunk), chunk);
  });

  test('what cannot be the beginning of a value is not held back', () => {
    const filter = new KnownValues(['hunter2-hunter2']).stream();
    assert.equal(Buffer.from(filter.push(Buffer.from('Password: '))).toString(), 'Password: ');
    assert.equal(Buffer.from(filter.push(Buffer.from('hunt'))).toString(), '');
    assert.equal(Buffer.from(filter.push(Buffer.from('ing?'))).toString(), 'hunting?');
    assert.equal(filter.end().length, 0);
  });
});

describe('known values in other spellings', () => {
  const secret = 'p@ss/w"ord ünd mehr';
  const known = new KnownValues([secret]);

  test('in base64, wherever in the encoded text they stand', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 9 }), fc.string({ maxLength: 9 }), (before, behind) => {
        for (const encoding of ['base64', 'base64url'] as const) {
          const encoded = Buffer.from(before + secret + behind).toString(encoding);
          const clean = known.text(encoded);
          assert.ok(clean.includes(REDACTED), encoded);
          assert.ok(clean.replace(REDACTED, '').length <= Buffer.from(before + behind).toString(encoding).length + 6);
        }
      }),
    );
  });

  test('in JSON and in URLs', () => {
    for (const text of [
      JSON.stringify({ a: secret }),
      JSON.stringify({ a: secret }).replaceAll('/', '\\/'),
      `?q=${encodeURIComponent(secret)}`,
      `?q=${encodeURIComponent(secret).toLowerCase()}`,
      new URLSearchParams({ q: secret }).toString().replace(/%C3%BC/, '%C3%BC'),
    ]) {
      assert.ok(known.text(text).includes(REDACTED), text);
    }
  });

  test('a key in several lines is hidden line by line', () => {
    const key = '-----BEGIN KEY-----\nline-of-a-private-key-one\nline-of-a-private-key-two\nend';
    const clean = new KnownValues([key]).text('x line-of-a-private-key-two y end');
    assert.equal(clean, 'x [redacted] y end');
  });

  test('values that overlap are hidden together and leave no rest', () => {
    const overlapping = new KnownValues(['abcdef', 'defghij', 'abcdefghij-long']);
    assert.equal(overlapping.text('<abcdefghij> abcdef.defghij'), '<[redacted]> [redacted].[redacted]');
    assert.equal(overlapping.text('abcdefabcdef'), '[redacted][redacted]');
  });

  test('too short to be told from ordinary text is not hidden', () => {
    assert.equal(new KnownValues(['abc', '']).text('abcabc'), 'abcabc');
  });
});
