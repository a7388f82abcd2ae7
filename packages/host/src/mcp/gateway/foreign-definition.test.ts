import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Tool } from '@modelcontextprotocol/client';
import { readDefinition } from './foreign-definition.ts';

const tool: Tool = { name: 'work', description: 'Does work', inputSchema: { type: 'object', properties: {} } };

function nested(depth: number): object {
  let value: object = {};
  for (let level = 0; level < depth; level++) value = { not: value };
  return value;
}

function digestOf(changed: object): string {
  const read = readDefinition({ ...tool, ...changed } as Tool);
  return 'digest' in read ? read.digest : read.problem;
}

describe('definitions of foreign tools', () => {
  test('have a digest over every word a model reads, and over nothing else', () => {
    const changes = [
      { name: 'other' },
      { title: 'Work' },
      { description: 'Does work!' },
      { inputSchema: { type: 'object', properties: { a: {} } } },
      { outputSchema: { type: 'object' } },
      { annotations: { readOnlyHint: true } },
    ];
    const digests = new Set([digestOf({}), ...changes.map(digestOf)]);
    assert.equal(digests.size, changes.length + 1);
    assert.equal(digestOf({ _meta: { stamp: 1 } }), digestOf({}));
    assert.equal(digestOf({ inputSchema: { properties: {}, type: 'object' } }), digestOf({}));
  });

  for (const [what, changed, problem] of [
    ['a long name', { name: 'n'.repeat(129) }, /name is not/],
    ['a long description', { description: 'd'.repeat(200_000) }, /larger than/],
    ['half a character', { description: '\ud800' }, /half a character/],
    ['direction marks', { description: 'safe \u202Eevil' }, /invisible/],
    ['another document', { inputSchema: { type: 'object', properties: { a: { $ref: 'file:///etc' } } } }, /another/],
    ['a document inside', { inputSchema: { type: 'object', items: { $id: 'x' } } }, /document of its own/],
    ['depth', { annotations: nested(60) }, /definition is nested deeper/],
    ['a deep input schema', { inputSchema: { type: 'object', ...nested(36) } }, /input schema is nested deeper/],
    ['a large input schema', { inputSchema: { type: 'object', title: 't'.repeat(70_000) } }, /input schema is larger/],
    ['an unknown dialect', { inputSchema: { type: 'object', $schema: 'https://example.org/own' } }, /dialect/],
    ['a bad output schema', { outputSchema: { $recursiveRef: '#' } }, /output schema uses \$recursiveRef/],
  ] as const) {
    test(`are refused for ${what}`, () => assert.match(digestOf(changed), problem));
  }

  test('are taken up to these bounds', () => {
    const inputSchema = { type: 'object', title: 't'.repeat(60_000), ...nested(30) };
    assert.match(digestOf({ name: 'n'.repeat(128), inputSchema, annotations: nested(35) }), /^sha256:/);
  });

  test('may have properties that are called like keywords', () => {
    const properties = { $ref: { type: 'string' }, $id: { type: 'string' }, $dynamicRef: { type: 'string' } };
    assert.match(digestOf({ inputSchema: { type: 'object', properties } }), /^sha256:/);
  });
});
