import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headerArguments, headerMismatch, headerProblem } from './param-headers.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    count: { type: 'integer', 'x-mcp-header': 'Count' },
    deep: { type: 'object', properties: { on: { type: 'boolean', 'x-mcp-header': 'On' } } },
    list: { type: 'array', items: { type: 'string', 'x-mcp-header': 'Never' } },
    plain: { type: 'string' },
  },
};

function problemOf(args: unknown, headers: Record<string, string>): string | undefined {
  return headerProblem(headerArguments(SCHEMA), args, new Headers(headers))?.problem;
}

test('arguments with headers are found in properties only', () => {
  assert.deepEqual(
    headerArguments(SCHEMA).map(({ path, header }) => `${path.join('.')} ${header}`),
    ['region Mcp-Param-Region', 'count Mcp-Param-Count', 'deep.on Mcp-Param-On'],
  );
  assert.deepEqual(headerArguments({ type: 'object' }), []);
});

test('header and argument must say the same', () => {
  const base64 = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
  assert.equal(problemOf({ region: 'eu' }, { 'mcp-param-region': 'eu' }), undefined);
  assert.equal(problemOf({ region: 'Zürich' }, { 'mcp-param-region': base64('Zürich') }), undefined);
  assert.equal(
    problemOf({ count: 42, deep: { on: true } }, { 'mcp-param-count': '42.0', 'mcp-param-on': 'true' }),
    undefined,
  );
  assert.equal(problemOf({ plain: 'x', region: null }, { 'mcp-param-region': 'ignored' }), undefined);
  assert.match(problemOf({ region: 'eu' }, { 'mcp-param-region': 'us' }) ?? '', /differs from region/);
  assert.match(problemOf({ region: 'eu' }, {}) ?? '', /is missing/);
  assert.match(problemOf({ count: 0 }, { 'mcp-param-count': ' ' }) ?? '', /differs from count/);
  for (const bad of ['SGVsbG8', 'SGVs!!!bG8=', '/w=='])
    assert.match(problemOf({ region: 'Hello' }, { 'mcp-param-region': `=?base64?${bad}?=` }) ?? '', /Base64/, bad);
});

test('a mismatch is answered with 400 and the code of the protocol', async () => {
  const response = headerMismatch(7, { header: 'Mcp-Param-Region', problem: 'is missing' });
  const { id, error } = (await response.json()) as { id: number; error: { code: number } };
  assert.deepEqual([response.status, id, error.code], [400, 7, -32_020]);
});
