import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { checkToolName } from './tool-names.ts';

interface Vectors {
  readonly toolNames: { readonly valid: readonly string[]; readonly invalid: readonly string[] };
}
const { toolNames }: Vectors = JSON.parse(
  readFileSync(new URL('../fixtures/protocol-vectors.json', import.meta.url), 'utf8'),
);

test('a tool name is a single harmless path part [S4-11]', () => {
  for (const name of toolNames.valid) assert.equal(checkToolName(name), name);
  for (const name of toolNames.invalid) {
    assert.throws(
      () => checkToolName(name),
      (thrown) => isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL',
      name,
    );
  }
});
