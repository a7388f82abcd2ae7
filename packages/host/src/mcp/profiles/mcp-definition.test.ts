import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isReadOnlyKind, parseToolKind, type ToolKind, type ToolListing } from '@tool-runtime/sdk';
import { toMcpTool } from './mcp-definition.ts';

function listing(over: Partial<ToolListing>): ToolListing {
  return {
    name: 'x_tool',
    title: 'X',
    category: 'x',
    summary: 'Does x',
    policyNotes: 'Never y',
    kind: 'edit',
    sideEffectLevel: 'workspace_write',
    effect: 'write',
    risk: 'medium',
    idempotent: false,
    timeoutMs: 1,
    hasLargeAnswers: false,
    maxTimeoutMs: 1,
    argsSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', properties: {} },
    dataSchema: { type: 'object', properties: { n: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER } } },
    ...over,
  };
}

const KINDS: readonly ToolKind[] = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'other'];

describe('a tool as MCP knows it', () => {
  test('has its keys in one order, and a description made of sentences', () => {
    assert.equal(
      JSON.stringify(toMcpTool(listing({}))),
      '{"name":"x_tool","title":"X","description":"Does x. Never y.","inputSchema":{"type":"object","properties":{}},' +
        '"outputSchema":{"type":"object","properties":{"warnings":{"type":"array","items":{"type":"string"},' +
        '"description":"What the policy warns of"},"n":{"type":"integer"}}},' +
        '"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":false}}',
    );
    assert.equal(toMcpTool(listing({ policyNotes: undefined, summary: 'Why?' })).description, 'Why?');
  });

  test('leaves the output schema out when told, and where 2025 clients would refuse it', () => {
    assert.equal('outputSchema' in toMcpTool(listing({}), { output: false }), false);
    assert.equal('outputSchema' in toMcpTool(listing({ dataSchema: { anyOf: [] } })), false);
  });

  test('is read-only for the kinds that are, and only with an effect and level that fit', () => {
    for (const kind of KINDS) {
      const reads = { kind, effect: 'read', sideEffectLevel: 'read_only' };
      const isReadOnly = toMcpTool(listing(reads)).annotations?.readOnlyHint === true;
      assert.equal(isReadOnly, isReadOnlyKind(parseToolKind(kind)), kind);
      for (const more of [{ effect: 'write' }, { sideEffectLevel: 'network' }, { sideEffectLevel: 'process_exec' }]) {
        assert.equal(toMcpTool(listing({ ...reads, ...more })).annotations?.readOnlyHint, false);
      }
    }
  });

  test('counts as destructive unless it is an edit of low risk, and as open when it may leave the machine', () => {
    const hints = (over: Partial<ToolListing>) => toMcpTool(listing(over)).annotations;
    assert.equal(hints({ kind: 'delete', risk: 'low' })?.destructiveHint, true);
    assert.equal(hints({ kind: 'execute', risk: 'low' })?.destructiveHint, true);
    assert.equal(hints({ risk: 'low' })?.destructiveHint, false);
    assert.equal(hints({ sideEffectLevel: 'network' })?.openWorldHint, true);
    assert.equal(hints({ kind: 'other' })?.openWorldHint, true);
    assert.equal(hints({ idempotent: true })?.idempotentHint, true);
  });
});
