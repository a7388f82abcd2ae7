import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AstIndex } from '../contracts/ast.ts';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';

const parser: AstIndex = { covers: () => false, refresh: () => {}, parseProblems: () => [] };

function registryWith(rule: string, level: string | undefined): { file: string; text: string } {
  const enforcement = level === undefined ? '' : `\n    enforcement: ${level}`;
  return { file: 'ops.yaml', text: `version: 1\nvalidators:\n  - rule: ${rule}${enforcement}\n` };
}

/** Warnings of a runtime that opens with this registry. */
async function warningsOf(rule: string, level: string | undefined, ast?: AstIndex): Promise<readonly string[]> {
  const registry = registryWith(rule, level);
  const scratch = await openScratchRuntime({ registry, ...(ast === undefined ? {} : { ast }) });
  const warnings = scratch.runtime.warnings.map(({ message, details }) => `${details?.['registry']} ${message}`);
  await scratch.dispose();
  return warnings;
}

describe('rules that need an engine [S0-68 S0-69 S0-70]', () => {
  for (const rule of ['code.fn.docs.exported', 'code.no.panic.in.lib', 'code.no.unwrap', 'code.mod.import.rules']) {
    test(`${rule} cannot be made blocking without it: the refusal names the line and what to do`, async () => {
      const message =
        `Registry refused: ops.yaml:3:5 Rule needs an engine this runtime does not have: ${rule} ` +
        '(ast; create the runtime with it, or write enforcement: warning)';
      await assert.rejects(warningsOf(rule, 'blocking'), { code: 'E_VALIDATION_FAIL', message });
      assert.deepEqual(await warningsOf(rule, 'blocking', parser), []);
    });

    test(`${rule} below blocking loads with a warning`, async () => {
      const expected = `ops.yaml:3 Rule needs an engine this runtime does not have: ${rule} (ast; the rule is not in force)`;
      assert.deepEqual(await warningsOf(rule, 'warning'), [expected]);
      assert.deepEqual(await warningsOf(rule, 'suggestion'), [expected]);
      assert.deepEqual(await warningsOf(rule, 'warning', parser), []);
    });
  }

  test('the level a rule has by itself counts where the registry gives none', async () => {
    await assert.rejects(warningsOf('code.fn.docs.exported', undefined), /needs an engine/);
    assert.equal((await warningsOf('code.no.unwrap', undefined)).length, 1);
  });

  test('code.ast.parsed may be blocking without it, because it refuses call by call [S0-63]', async () => {
    assert.deepEqual(await warningsOf('code.ast.parsed', 'blocking'), []);
  });

  test('a session cannot make one blocking either [S0-23]', async () => {
    const scratch = await openScratchRuntime();
    await assert.rejects(
      scratch.runtime.openSession({ registry: registryWith('code.no.unwrap', 'blocking') }),
      /needs an engine this runtime does not have: code\.no\.unwrap/,
    );
    await scratch.dispose();
  });
});

describe('commands of steps', () => {
  test('a fix beside a step is known, a fix of nothing is named', async () => {
    const text = (name: string) => ({ file: 'ops.yaml', text: `version: 1\ncommands: {${name}: npm run x}\n` });
    for (const [name, count] of [
      ['lint.fix', 0],
      ['fmt.fix', 0],
      ['lint.mend', 1],
    ] as const) {
      const scratch = await openScratchRuntime({ registry: text(name) });
      assert.equal(scratch.runtime.warnings.length, count, name);
      await scratch.dispose();
    }
  });
});

test('tools that are in auto_approve and in require_approval are named at load', async () => {
  const load = async (approvals: string): Promise<readonly string[]> => {
    const registry = { file: 'ops.yaml', text: `version: 1\napprovals:\n  ${approvals}\n` };
    const scratch = await openScratchRuntime({ registry });
    const warnings = scratch.runtime.warnings.map(({ message }) => message);
    await scratch.dispose();
    return warnings;
  };
  assert.deepEqual(await load("auto_approve: ['file_*']\n  require_approval: [file_write, shell_exec]"), [
    'Also in require_approval, which is stricter and holds: file_write',
  ]);
  assert.deepEqual(await load('auto_approve: [file_read]\n  require_approval: [file_write]'), []);
});
