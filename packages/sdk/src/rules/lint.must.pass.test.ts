import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inForce, withGate } from '../../test/gate-probe.ts';

const registry = `${inForce('lint.must.pass')}\ncommands: {lint: sh lint.sh, build: sh no-such-script.sh}`;

describe('lint.must.pass [S0-64]', () => {
  test('runs commands.lint: what it complains about stops the commit, and silence lets it through [S0-64] (deep)', async () => {
    const lint = 'grep -n "var " a.js && echo "a.js:1:1: error Unexpected var [no-var]" && exit 1\nexit 0\n';
    await withGate({ registry, files: { 'lint.sh': lint, 'a.js': 'let x\n' } }, async (gate) => {
      gate.stage({ 'a.js': 'var x\n' });
      const { error } = await gate.ask();
      assert.match(String(error?.message), /^Lint failed: /);
      assert.equal(error?.details?.['rule'], 'lint.must.pass');
      gate.stage({ 'a.js': 'const x = 1\n' });
      assert.equal((await gate.ask()).ok, true);
    });
  });

  test('a linter that fixes files by itself is told to report only [S0-64]', async () => {
    await withGate({ registry, files: { 'lint.sh': 'echo "let x" > a.js\n', 'a.js': 'let x\n' } }, async (gate) => {
      gate.stage({ 'a.js': 'var x\n' });
      const { error } = await gate.ask();
      assert.equal(error?.message, 'Lint changed files: a.js');
      assert.match(String(error?.details?.['next']), /only report/);
    });
  });
});
