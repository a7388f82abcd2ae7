import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inForce, withGate } from '../../test/gate-probe.ts';

const registry = `${inForce('fmt.must.pass')}\ncommands: {fmt: sh fmt.sh, fmt.fix: sh mend.sh}`;

describe('fmt.must.pass [S0-64]', () => {
  test('a check mode that is content lets the commit through, one that is not stops it and proposes the fix [S0-64] (deep)', async () => {
    const check = 'if grep -q "  " a.txt; then echo "a.txt is not formatted"; exit 1; fi\n';
    await withGate({ registry, files: { 'fmt.sh': check, 'a.txt': 'x\n' } }, async (gate) => {
      gate.stage({ 'a.txt': 'x  y\n' });
      const { error } = await gate.ask();
      assert.match(String(error?.message), /^Format failed: /);
      assert.deepEqual(error?.details?.['fix'], { kind: 'command', command: 'sh mend.sh' });
      gate.stage({ 'a.txt': 'x y\n' });
      assert.equal((await gate.ask()).ok, true);
    });
  });

  test('a formatter that writes is not a check, and the answer says to use its check mode [S0-64]', async () => {
    await withGate({ registry, files: { 'fmt.sh': 'echo "x y" > a.txt\n', 'a.txt': 'x y\n' } }, async (gate) => {
      gate.stage({ 'a.txt': 'x  y\n' });
      const { error } = await gate.ask();
      assert.equal(error?.message, 'Format changed files: a.txt');
      assert.match(String(error?.details?.['next']), /check mode/);
    });
  });
});
