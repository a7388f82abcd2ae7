import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isToolError } from '../primitives/errors.ts';
import { SseParser } from './event-feed.ts';

const parse = (...pieces: string[]) => {
  const parser = new SseParser(1000);
  return pieces.flatMap((piece) => parser.push(piece));
};

const rows: readonly (readonly [string, string, readonly object[]])[] = [
  ['one event with an id', 'id: 7\ndata: {"a":1}\n\n', [{ data: '{"a":1}', event: 'message', id: '7' }]],
  ['several lines of data', 'data: a\ndata:b\ndata\n\n', [{ data: 'a\nb\n', event: 'message', id: '' }]],
  ['comments, and blocks without data', ': open\n\nevent: x\n\n: beat\n\n', []],
  ['a name, for one event only', 'event: x\ndata: 1\n\ndata: 2\n\n', [named('1', 'x'), named('2', 'message')]],
  ['the last id for later events', 'id: 1\ndata: a\n\ndata: b\n\n', [withId('a', '1'), withId('b', '1')]],
  ['an id with a NUL is left out', 'id: 1\0\ndata: a\n\n', [withId('a', '')]],
  ['all three line ends', 'data: a\r\n\r\ndata: b\r\rdata: c\n\n', [named('a'), named('b'), named('c')]],
  ['a byte order mark at the start', '\ufeffdata: a\n\n', [named('a')]],
  ['only one space is taken away', 'data:  a\n\n', [named(' a')]],
  ['fields nobody knows', 'retry: 5\nfoo: 1\ndata: a\n\n', [named('a')]],
  ['an event that was cut off', 'data: a\n\ndata: b\n', [named('a')]],
];

function named(data: string, event = 'message') {
  return { data, event, id: '' };
}

function withId(data: string, id: string) {
  return { data, event: 'message', id };
}

describe('the parser of server-sent events', () => {
  for (const [name, text, events] of rows) test(`reads ${name}`, () => assert.deepEqual(parse(text), events));

  test('gives the same events however the text is cut into pieces', () => {
    const text = rows.map((row) => row[1]).join('data: x\r\n\r\n');
    const cuts = fc.array(fc.nat(text.length), { maxLength: 40 });
    fc.assert(
      fc.property(cuts, (given) => {
        const places = [0, ...given.toSorted((left, right) => left - right), text.length];
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end));
        assert.deepEqual(parse(...pieces), parse(text));
      }),
    );
    assert.deepEqual(parse(...text), parse(text));
  });

  test('refuses an event over the limit, and takes one just under it', () => {
    for (const pieces of [
      [`data: ${'x'.repeat(1001)}`],
      [`data: ${'x'.repeat(600)}\n`, `data: ${'x'.repeat(600)}\n`],
    ]) {
      assert.throws(() => parse(...pieces), isToolError);
    }
    assert.equal(parse(`data: ${'x'.repeat(990)}\n\n`, `data: ${'x'.repeat(990)}\n\n`).length, 2);
  });
});
