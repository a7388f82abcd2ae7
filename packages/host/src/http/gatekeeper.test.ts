import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { judgeTarget } from './gatekeeper.ts';

const isTaken = (target: string): boolean => judgeTarget(target) === undefined;

describe('a request target', () => {
  test('is a path in its one spelling, with or without a query', () => {
    for (const target of [
      '/',
      '/healthz',
      '/v1/call',
      '/v1/sessions/a%2Fb',
      '/v1/events?after=1',
      '/v1/x?a=//&b=%2e',
    ]) {
      assert.ok(isTaken(target), target);
    }
  });

  test('is nothing that others might read as another path', () => {
    for (const target of [
      ...['', '*', 'v1/call', 'http://host/v1/call', '//host/v1/call', '/v1//call', '/v1/call/', '/./v1', '/v1/..'],
      ...['/%2e/v1', '/%2E%2e/v1', '/v1/%63all', '/v1/%7E', '/v1/call#x', '/v1/x?y#z', '/v1\\call', '/v1/%', '/v1/%zz'],
      ...['/v1/ call', '/v1/\u00e9', '/v1/<'],
    ]) {
      assert.ok(!isTaken(target), target);
    }
  });

  test('takes every id as a segment, as encodeURIComponent writes it', () => {
    const segment = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text !== '.' && text !== '..');
    fc.assert(fc.property(segment, (text) => isTaken(`/v1/calls/${encodeURIComponent(text)}`)));
  });

  test('leads where the URL parser would lead as well', () => {
    const piece = fc.constantFrom(
      'a',
      '.',
      '..',
      '/',
      '//',
      '%2e',
      '%2F',
      '%61',
      '\\',
      '#',
      '?',
      '@',
      ':',
      '%5c',
      '~',
      ' ',
    );
    const target = fc.array(piece, { maxLength: 8 }).map((pieces) => `/${pieces.join('')}`);
    fc.assert(
      fc.property(target, (text) => {
        fc.pre(isTaken(text));
        const { pathname, host, hash } = new URL(text, 'http://own');
        assert.deepEqual([pathname, host, hash], [text.split('?')[0], 'own', '']);
      }),
      { numRuns: 2000 },
    );
  });
});
