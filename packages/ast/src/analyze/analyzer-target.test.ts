import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { analyzerTarget } from './analyzer-target.ts';

describe('what an analyzer is pointed at', () => {
  test('S0-56 is written so that no name is taken for an option or a registry entry', () => {
    assert.deepEqual(analyzerTarget(['src', '-o', './a b', '.', '!x'], 'p/ci'), {
      paths: ['./src', './-o', './a b', '.', './!x'],
      config: './p/ci',
    });
  });

  test('S0-56 lies inside the workspace', () => {
    for (const path of ['/etc', '..', 'a/../../b', '', 'a\0b']) {
      assert.throws(() => analyzerTarget([path], undefined), { code: 'E_POLICY', path: 'paths' }, path);
      assert.throws(() => analyzerTarget([], path), { code: 'E_POLICY', path: 'config' }, path);
    }
    assert.deepEqual(analyzerTarget(['a/../b'], undefined).paths, ['./b']);
  });

  test('is not longer than a command line can be', () => {
    assert.throws(() => analyzerTarget(new Array(1_001).fill('a'), undefined), { code: 'E_VALIDATION_FAIL' });
    assert.equal(analyzerTarget(new Array(1_000).fill('a'), undefined).paths.length, 1_000);
  });
});
