import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { readIdOfEnds, readRequestId } from './read-request-id.ts';

test('readRequestId finds the one outer request_id, even where the rest is not acceptable', () => {
  const texts = [
    '{"request_id":"r"}',
    ' { "a":1, "request_id" : "r" , "b":{"request_id":"inner"}}\n',
    '{"args":{"a":1,"a":2},"request_id":"r"}',
    '{"args":NaN,"request_id":"r",}',
    '{"request_\\u0069d":"\\u0072","x":"request_id"}',
    `{"request_id":"r","deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
  ];
  for (const text of texts) assert.equal(readRequestId(text), 'r', text.slice(0, 60));
});

test('readRequestId gives up on any doubt', () => {
  const texts = [
    '',
    'null',
    '[{"request_id":"r"}]',
    '{"args":{"request_id":"r"}}',
    '{"request_id":"r"',
    '{"request_id":"r"}{"request_id":"s"}',
    '{"request_id":"r"} x',
    '{"request_id":"r","request_id":"s"}',
    '{"request_id":"r","request_\\u0069d":"r"}',
    '{"request_id":7}',
    '{"request_id":""}',
    '{"request_id":"a\\u0000"}',
    '{"request_id":"\\x"}',
    '{"request_id"',
    '{"request_id":"r","open',
  ];
  for (const text of texts) assert.equal(readRequestId(text), null, text);
});

test('readRequestId agrees with JSON.parse on whole messages and never throws on others', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.nat(), (rest, tail, cut) => {
      const text = JSON.stringify({ ...rest, request_id: 'r1' });
      assert.equal(readRequestId(text), 'r1');
      readRequestId(text.slice(0, cut % text.length) + tail);
    }),
  );
});

describe('the id of a message of which only the ends are left', () => {
  const ENDS = 4096;
  const idOf = (text: string): string | null => readIdOfEnds(text.slice(0, ENDS), text.slice(-ENDS));
  const huge = 'x'.repeat(20_000);

  test('is found before and behind what is large', () => {
    assert.equal(idOf(JSON.stringify({ type: 'ToolRequest', request_id: 'r', args: { text: huge } })), 'r');
    assert.equal(idOf(JSON.stringify({ args: { text: huge }, request_id: 'r', session_id: 's', timestamp: 1.5 })), 'r');
    assert.equal(idOf(`${JSON.stringify({ args: { text: huge }, request_id: 'r', is: true })} `), 'r');
  });

  test('is undefined where there is doubt', () => {
    const doubtful = [
      JSON.stringify({ args: { text: huge, request_id: 'inner' } }),
      JSON.stringify({ args: { request_id: 'inner', text: huge } }),
      JSON.stringify({ args: `${huge},"request_id":"quoted"}` }),
      JSON.stringify({ args: huge, request_id: 7 }),
      `{"request_id":"one","args":"${huge}","request_id":"two"}`,
      JSON.stringify({ before: huge, request_id: 'hidden', after: huge }),
      JSON.stringify([huge, 'request_id', 'r']),
    ];
    for (const text of doubtful) assert.equal(idOf(text), null, text.slice(-60));
  });

  test('is the id of the message or none, for any members around it', () => {
    const value = fc.oneof(
      fc.json({ maxDepth: 2 }),
      fc.string().map((text) => JSON.stringify(text)),
    );
    const members = fc.array(
      fc.tuple(
        fc.string().filter((name) => name !== 'request_id'),
        value,
      ),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(members, members, fc.boolean(), (above, below, isFirst) => {
        const large = `"large":"${huge}"`;
        const words = (all: typeof above): string[] => all.map(([name, text]) => `${JSON.stringify(name)}:${text}`);
        const own = ['"request_id":"mine"'];
        const parts = isFirst
          ? [...words(above), ...own, large, ...words(below)]
          : [...words(above), large, ...own, ...words(below)];
        assert.ok([null, 'mine'].includes(idOf(`{${parts.join(',')}}`)));
      }),
    );
  });
});
