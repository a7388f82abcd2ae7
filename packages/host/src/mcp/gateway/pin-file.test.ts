import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { Tool } from '@modelcontextprotocol/client';
import { comparePins } from './compare-pins.ts';
import { approvePins, listPins, removePins, type ServerPins, updatePins } from './pin-file.ts';

const how = { family: 'legacy', approveNew: false } as const;

function tool(name: string, description = 'Does work'): Tool {
  return { name, description, inputSchema: { type: 'object' } };
}

function stateOf(context: TestContext): string {
  const state = mkdtempSync(join(tmpdir(), 'tool-runtime-pins-'));
  context.after(() => rmSync(state, { recursive: true, force: true }));
  return state;
}

function pin(state: string, before: ServerPins, tools: readonly Tool[]): void {
  updatePins(state, (pins) => ({ ...pins, s: comparePins('s', before, tools, how).pins }));
}

describe('pins', () => {
  test('wait until they are approved, one by one or all', (context) => {
    const state = stateOf(context);
    assert.deepEqual(listPins(state), {});
    pin(state, { tools: {} }, [tool('a'), tool('b')]);
    assert.deepEqual(approvePins(state, 's', ['a', 'unknown']), ['a']);
    assert.equal(listPins(state)['s']?.tools['b']?.approved, undefined);
    assert.deepEqual(approvePins(state, 's'), ['b']);
    assert.deepEqual(approvePins(state, 'unknown'), []);
  });

  test('keep the approved definition beside the changed one', (context) => {
    const state = stateOf(context);
    pin(state, { tools: {} }, [tool('a')]);
    approvePins(state, 's');
    pin(state, listPins(state)['s'] ?? { tools: {} }, [tool('a', 'Does evil')]);
    const changed = listPins(state)['s']?.tools['a'];
    assert.equal(changed?.approved?.definition.description, 'Does work');
    assert.equal(changed?.pending?.definition.description, 'Does evil');
    pin(state, listPins(state)['s'] ?? { tools: {} }, [tool('a')]);
    assert.equal(listPins(state)['s']?.tools['a']?.pending, undefined);
  });

  test('are forgotten by name', (context) => {
    const state = stateOf(context);
    pin(state, { tools: {} }, [tool('a'), tool('b')]);
    assert.equal(removePins(state, 's', ['a']), true);
    assert.deepEqual(Object.keys(listPins(state)['s']?.tools ?? {}), ['b']);
    assert.equal(removePins(state, 's', ['a']), false);
    assert.equal(removePins(state, 's'), true);
    assert.deepEqual(listPins(state), {});
  });

  test('whose definition was edited in the file count as none', (context) => {
    const state = stateOf(context);
    pin(state, { tools: {} }, [tool('a')]);
    approvePins(state, 's');
    const file = join(state, 'mcp-pins.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('Does work', 'Does evil'));
    assert.deepEqual(listPins(state)['s']?.tools['a'], {});
    writeFileSync(file, '{ broken');
    assert.deepEqual(listPins(state), {});
  });

  test('hold names as they are, whatever objects inherit', (context) => {
    const { pins, report } = comparePins('s', { tools: {} }, [tool('constructor'), tool('__proto__')], how);
    assert.deepEqual(Object.keys(pins.tools).sort(), ['__proto__', 'constructor']);
    assert.deepEqual(report.added, ['constructor', '__proto__']);
    const approve = { ...how, approveNew: true };
    assert.ok(comparePins('s', { tools: {} }, [tool('constructor')], approve).pins.tools['constructor']?.approved);
    const state = stateOf(context);
    assert.deepEqual(approvePins(state, 'constructor'), []);
    assert.equal(removePins(state, 'constructor'), false);
  });

  test('of tools that are gone stay, and a name listed twice is refused', () => {
    const approve = { family: 'modern', approveNew: true } as const;
    const first = comparePins('s', { tools: {} }, [tool('a'), tool('b')], approve).pins;
    const second = comparePins('s', first, [tool('b'), tool('b', 'again')], approve);
    assert.deepEqual(second.report.gone, ['a']);
    assert.deepEqual(second.report.refused, ['b']);
    assert.deepEqual(second.pins.tools['a'], first.tools['a']);
  });

  test('are kept for 512 tools of a server, not for more', () => {
    const listed = Array.from({ length: 600 }, (_, at) => tool(`t${at}`));
    const { pins, report } = comparePins('s', { tools: {} }, listed, how);
    assert.deepEqual([Object.keys(pins.tools).length, report.added.length], [512, 512]);
  });

  test('are approved at first sight only where the operator says so, and never when they change', () => {
    const approve = { family: 'modern', approveNew: true } as const;
    const first = comparePins('s', { tools: {} }, [tool('a')], approve).pins;
    assert.ok(first.tools['a']?.approved);
    const second = comparePins('s', first, [tool('a', 'changed')], approve);
    assert.deepEqual(second.report.changed, ['a']);
    assert.ok(second.pins.tools['a']?.pending);
    assert.deepEqual(second.pins.tools['a']?.approved, first.tools['a']?.approved);
    const waiting = comparePins('s', { tools: {} }, [tool('a')], how).pins;
    assert.equal(waiting.tools['a']?.approved, undefined);
    const later = comparePins('s', waiting, [tool('a')], approve).pins;
    assert.equal(later.tools['a']?.approved, undefined, 'what waited once waits for a word about it');
  });
});
