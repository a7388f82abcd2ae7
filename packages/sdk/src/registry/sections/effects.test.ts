import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Registry } from '../../contracts/registry.ts';
import { loadRegistry } from '../load-registry.ts';
import { narrowRegistry } from '../narrow-registry.ts';

function load(text: string): Registry {
  const known = { rules: new Map(), tools: new Set<string>(), engines: new Set<never>() };
  return loadRegistry(`version: 1\n${text}\n`, { file: 'r.yaml', ...known });
}

test('effects of a session can be stricter than those of the host, not weaker [S0-23]', () => {
  const host = load('effects: recorded');
  const narrow = (text: string) => narrowRegistry(host, load(text), { overreach: 'error' }).effects;
  assert.deepEqual(
    [narrow(''), narrow('effects: recorded'), narrow('effects: preview')],
    ['recorded', 'recorded', 'preview'],
  );
  assert.throws(() => narrow('effects: direct'), { code: 'E_POLICY' });
  assert.equal(narrowRegistry(host, load('effects: direct'), { overreach: 'warn' }).effects, 'recorded');
  assert.equal(load('').effects, 'direct');
});

test('how approvals are asked is up to the host alone', () => {
  assert.equal(load('').ask, 'command_line');
  const host = load('ask: with_effects');
  const narrow = (text: string, overreach: 'error' | 'warn' = 'error') =>
    narrowRegistry(host, load(text), { overreach }).ask;
  assert.deepEqual([narrow(''), narrow('ask: with_effects')], ['with_effects', 'with_effects']);
  for (const other of ['command_line', 'with_effects_and_network']) {
    assert.throws(() => narrow(`ask: ${other}`), { code: 'E_POLICY' });
    assert.equal(narrow(`ask: ${other}`, 'warn'), 'with_effects');
  }
});
