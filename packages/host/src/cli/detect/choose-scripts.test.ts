import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayRewrite, neverEnds, onlyChecks } from './choose-scripts.ts';

test('scripts that may rewrite are told from those that only check', () => {
  const rewriting = [
    'prettier --write .',
    'prettier -w src',
    'eslint . --fix',
    'biome check --write',
    'biome format --apply',
    'black .',
    'cargo fmt',
    'ruff format',
    'gofmt -w .',
    'clang-format -i a.c',
    'dotnet format',
    'php-cs-fixer fix',
    'eslint . && prettier --write .',
    'prettier --check . ; cargo fmt',
  ];
  const checking = [
    'prettier --check .',
    'prettier -l src',
    'biome format .',
    'biome ci',
    'black --check .',
    'cargo fmt --check',
    'ruff format --diff',
    'dotnet format --verify-no-changes',
    'php-cs-fixer fix --dry-run',
    'dprint check',
  ];
  for (const text of rewriting) assert.deepEqual([mayRewrite(text), onlyChecks(text)], [true, false], text);
  for (const text of checking) assert.deepEqual([mayRewrite(text), onlyChecks(text)], [false, true], text);
  for (const text of ['eslint .', 'npm run lint -w packages/a', 'prettier .']) {
    assert.deepEqual([mayRewrite(text), onlyChecks(text)], [false, false], text);
  }
});

test('scripts that never end are told from those that do', () => {
  for (const text of ['vitest --watch', 'tsc -w', 'jest --watchAll', 'x && tsc -b -w'])
    assert.ok(neverEnds(text), text);
  for (const text of ['vitest run', 'jest --watchAll=false', 'npm run build -w a', 'tsc -b']) {
    assert.ok(!neverEnds(text), text);
  }
});
