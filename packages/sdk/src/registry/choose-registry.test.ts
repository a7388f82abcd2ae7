import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { sha256Hex } from '../platform/digest.ts';
import { chooseRegistry, type RegistrySources } from './choose-registry.ts';

const known = { rules: new Map(), tools: undefined, engines: new Set<'ast'>() };
const text = [
  'version: 1',
  'shell_allow:',
  "  - '^ls$'",
  'side_effect_level: network',
  'protected_branches: [release]',
  '',
].join('\n');
const found = { file: 'tool-runtime.yaml', text };

function sources(extra: Partial<RegistrySources>): RegistrySources {
  return { operator: undefined, workspace: undefined, isTrusted: () => false, ...extra };
}

describe('which registry is in force', () => {
  test('none at all gives the safe defaults: no shell, no network, no push', () => {
    const registry = chooseRegistry(sources({}), known);
    assert.deepEqual(
      [registry.shellAllow.length, registry.allowedDomains.length, registry.git.allow_push],
      [0, 0, false],
    );
    assert.equal(registry.ceiling.side_effect_level, 'workspace_write');
  });

  test("the operator's word counts in full, also when the workspace has one", () => {
    const registry = chooseRegistry(sources({ operator: { ...found, file: 'ops.yaml' }, workspace: found }), known);
    assert.equal(registry.ceiling.side_effect_level, 'network');
    assert.equal(registry.shellAllow.length, 1);
    assert.deepEqual(registry.warnings, []);
  });

  test('one found in the workspace can only narrow, and names what it was not given and how to trust it', () => {
    const registry = chooseRegistry(sources({ workspace: found }), known);
    assert.equal(registry.ceiling.side_effect_level, 'workspace_write');
    assert.equal(registry.shellAllow.length, 0);
    assert.ok(registry.protectedBranches.includes('release'));
    const [warning, ...more] = registry.warnings;
    assert.deepEqual(more, []);
    assert.equal(warning?.message, 'tool-runtime.yaml is not trusted: 2 settings are ignored');
    assert.match(JSON.stringify(warning?.details), /tool-runtime\.yaml:3 .*tool-runtime\.yaml:4 .*tool-runtime trust/);
  });

  test('trust is by content: the same bytes are taken at their word, an edit is not', () => {
    const isTrusted = (sha256: string): boolean => sha256 === sha256Hex(text);
    assert.equal(chooseRegistry(sources({ workspace: found, isTrusted }), known).shellAllow.length, 1);
    const edited = { ...found, text: `${text}# edited\n` };
    assert.equal(chooseRegistry(sources({ workspace: edited, isTrusted }), known).shellAllow.length, 0);
  });
});
