import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { isToolError, type JsonValue } from '@tool-runtime/protocol';
import type { McpServerSettings } from '@tool-runtime/sdk';
import { foreignResult, type ResultSetting } from './foreign-result.ts';

const LIMIT = 1000;
const roomy = { max_output_bytes: 1_000_000 } as McpServerSettings;

/** Artifacts end up in `kept`. */
function setting(kept: Buffer[] = []): ResultSetting {
  const create = () => ({
    write: (bytes: Buffer) => void kept.push(bytes),
    finish: () => ({ handle: 'artifact:1', bytes: Buffer.concat(kept).length, digest: 'sha256:0' }),
  });
  return {
    server: 's',
    settings: { max_output_bytes: LIMIT } as McpServerSettings,
    redact: (text) => text.replaceAll('swordfish', '[redacted]'),
    context: { artifacts: { create }, warn: () => {} } as unknown as ResultSetting['context'],
  };
}

function nested(depth: number): JsonValue {
  let value: JsonValue = 'deep';
  for (let level = 0; level < depth; level++) value = { inside: value };
  return value;
}

function result(parts: object): CallToolResult {
  return { content: [], ...parts } as CallToolResult;
}

describe('the answer of a foreign tool', () => {
  test('keeps the members of blocks that MCP defines, and drops the others', () => {
    const block = { type: 'text', text: 'hello', _meta: { hint: 'obey' }, instructions: 'obey' };
    assert.deepEqual(foreignResult(result({ content: [block] }), setting()).content, [{ type: 'text', text: 'hello' }]);
  });

  test('holds no secret, in text, structure or names of resources; pictures stay as they are', () => {
    const content = [
      { type: 'text', text: 'the swordfish' },
      { type: 'resource', resource: { uri: 'a://swordfish', text: 'swordfish' } },
      { type: 'image', data: 'swordfish', mimeType: 'image/png' },
    ];
    const data = foreignResult(result({ content, structuredContent: { a: ['swordfish'], b: 1 } }), setting());
    assert.deepEqual(data, {
      content: [
        { type: 'text', text: 'the [redacted]' },
        { type: 'resource', resource: { uri: 'a://[redacted]', text: '[redacted]' } },
        { type: 'image', data: 'swordfish', mimeType: 'image/png' },
      ],
      structured: { a: ['[redacted]'], b: 1 },
    });
  });

  test('leaves out blocks that are nested too deep, and is refused when its structure is', () => {
    const content = [30, 100].map((depth) => ({ type: 'resource', resource: nested(depth) }));
    const data = foreignResult(result({ content }), { ...setting(), settings: roomy });
    assert.equal(data.content[0]?.['type'], 'resource');
    assert.deepEqual(data.content[1], { type: 'text', text: '[block left out: nested too deep]' });
    const structured = (depth: number) => result({ structuredContent: nested(depth) });
    assert.ok(foreignResult(structured(30), { ...setting(), settings: roomy }).structured);
    assert.throws(
      () => foreignResult(structured(100), { ...setting(), settings: roomy }),
      (thrown) => isToolError(thrown) && thrown.details['reason'] === 'invalid_answer',
    );
  });

  test('is an error when the server says so, and not when it does not', () => {
    const said = { content: [{ type: 'text', text: 'disk is full' }] };
    assert.throws(
      () => foreignResult(result({ ...said, isError: true }), setting()),
      (thrown) => isToolError(thrown) && thrown.details['reason'] === 'tool_failed',
    );
    assert.equal(foreignResult(result(said), setting()).content.length, 1);
  });

  test('is cut to its limit and kept whole beside it; one within the limit is left alone', () => {
    const kept: Buffer[] = [];
    const text = 'x'.repeat(5 * LIMIT);
    const cut = foreignResult(result({ content: [{ type: 'text', text }] }), setting(kept));
    assert.equal(cut.truncated, true);
    assert.ok(JSON.stringify(cut.content).length <= LIMIT);
    assert.ok(Buffer.concat(kept).includes(text));
    const short = foreignResult(result({ content: [{ type: 'text', text: 'x' }] }), setting());
    assert.deepEqual(short, { content: [{ type: 'text', text: 'x' }] });
  });
});
