import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { createRedactor } from '../redaction/redactor.ts';
import { createArgsSummarizer } from './summarize-args.ts';

const summarize = createArgsSummarizer(createRedactor({ secrets: ['hunter22'] }));

test('shows short values, sizes of private ones, and shapes of the rest [S0-13]', () => {
  const args = { path: 'a\nb.txt', content: 'äx', count: 3, force: true, none: null, list: [1, 2], map: { a: 1 } };
  assert.equal(
    summarize(args, ['content']),
    'path="a\\nb.txt" content=<3 bytes> count=3 force=true none=null list=[2 items] map={1 keys}',
  );
});

test('redacts values, names and members with a telling name [S0-13]', () => {
  assert.equal(
    summarize({ command: 'login hunter22', 'odd hunter22': 1, token: 'abc', url: 'https://u:p@h/' }, []),
    'command="login [redacted]" "odd [redacted]"=1 token=[redacted] url="https://u:[redacted]@h/"',
  );
});

test('a secret across the cut leaves no beginning behind [S0-13]', () => {
  const token = `ghp_${'a'.repeat(36)}`;
  for (let at = 60; at < 130; at++) {
    assert.ok(!summarize({ text: 'x'.repeat(at) + token }, []).includes('ghp_'), String(at));
  }
  for (let at = 2000; at < 2060; at++) {
    const key = `-----BEGIN PRIVATE KEY-----${'k'.repeat(at - 60)}-----END PRIVATE KEY-----`;
    assert.ok(!summarize({ text: `${key} ${token}${'y'.repeat(3000)}` }, []).includes('ghp_'), String(at));
  }
});

test('is one bounded line whatever the arguments', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.string()), (args, privateArgs) => {
      const line = summarize(args as JsonObject, privateArgs);
      assert.ok(line.length <= 512 && !/[\n\r\u0000]/.test(line), line);
    }),
  );
  const long = Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`argument_${at}`, 'v'.repeat(500)]));
  assert.equal(summarize(long, []).length, 512);
  assert.match(summarize({ text: 'v'.repeat(500) }, []), /^text="v{119}…"$/);
});
