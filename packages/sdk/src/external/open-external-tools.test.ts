import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { openScratchRuntime } from '../testing/scratch-runtime.ts';

const registry = (entries: string) => ({ file: 'ops.yaml', text: `version: 1\nexternal_tools: [${entries}]\n` });

describe('external tools of a runtime', () => {
  test('are listed with what the registry says about them [S4-50]', async (t) => {
    const schema = '{type: object, required: [url], properties: {url: {type: string}}}';
    const scratch = await openScratchRuntime({
      registry: registry(
        `{name: scan.x, command: a, summary: Scans, kind: read, side_effect_level: read_only, timeout_ms: 7, args_schema: ${schema}, requires_pack: false}, {name: b, command: b}`,
      ),
    });
    t.after(() => scratch.dispose());
    const [listed] = scratch.session.tools('scan.x');
    assert.deepEqual(
      [listed?.summary, listed?.kind, listed?.sideEffectLevel, listed?.effect, listed?.risk, listed?.idempotent],
      ['Scans', 'read', 'read_only', 'process', 'high', false],
    );
    assert.equal(listed?.timeoutMs, 7);
    const shown = listed?.argsSchema as { properties: Record<string, object>; required: readonly string[] };
    assert.deepEqual(Object.keys(shown.properties).sort(), ['args', 'inputs']);
    assert.deepEqual(shown.required, ['inputs']);
    const [plain] = scratch.session.tools('b');
    const open = plain?.argsSchema as { properties: object };
    assert.deepEqual(Object.keys(open.properties).sort(), ['args', 'pack', 'pack_digest']);
  });

  test('may not have the name of another tool [S4-50]', async (t) => {
    const opening = openScratchRuntime({ registry: registry('{name: grep, command: a}') });
    await assert.rejects(opening, /Name of the external tool is taken: grep/);
    const scratch = await openScratchRuntime({ registry: registry('{name: grep2, command: a}') });
    t.after(() => scratch.dispose());
    assert.equal(scratch.session.tools('grep2').length, 1);
  });

  test('that are named but not locked are left out with a warning [S4-50]', async (t) => {
    const scratch = await openScratchRuntime({ registry: registry('{name: lonely}') });
    t.after(() => scratch.dispose());
    assert.deepEqual(scratch.session.tools('lonely'), []);
    assert.ok(scratch.runtime.warnings.some(({ message }) => message === 'External tool has no command: lonely'));
  });
});
