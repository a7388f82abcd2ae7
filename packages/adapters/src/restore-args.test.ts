import assert from 'node:assert/strict';
import { test } from 'node:test';
import { restoreArgs } from './restore-args.ts';

const schema = {
  type: 'object',
  properties: {
    cmd: { type: 'string' },
    cwd: { type: 'string' },
    stdin: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    env: { type: 'object', additionalProperties: { type: 'string' } },
    steps: { type: 'array', items: { $ref: '#/$defs/step' } },
  },
  required: ['cmd', 'stdin'],
  additionalProperties: false,
  $defs: {
    step: { type: 'object', properties: { run: { type: 'string' }, cwd: { type: 'string' } }, required: ['run'] },
  },
};

test('nulls that mean "left out" go, nulls with a meaning stay', () => {
  const written = { cmd: 'ls', cwd: null, stdin: null, env: null, steps: [{ run: 'a', cwd: null }] };
  assert.deepEqual(restoreArgs(schema, 'openai', written), { cmd: 'ls', stdin: null, steps: [{ run: 'a' }] });
  assert.deepEqual(restoreArgs(schema, 'anthropic', { cmd: 'ls', cwd: null }), { cmd: 'ls', cwd: null });
});

test('a list of names and values becomes a map, whatever the names are', () => {
  const env = [
    { name: 'A', value: '1' },
    { name: '__proto__', value: '2' },
  ];
  const restored = restoreArgs(schema, 'anthropic', { cmd: 'ls', env }) as { env: object };
  assert.deepEqual(Object.entries(restored.env), [
    ['A', '1'],
    ['__proto__', '2'],
  ]);
});

test('a name that is given twice is refused', () => {
  const env = [
    { name: 'A', value: '1' },
    { name: 'A', value: '2' },
  ];
  assert.throws(() => restoreArgs(schema, 'openai', { cmd: 'ls', env }), {
    code: 'E_VALIDATION_FAIL',
    message: 'Name is given twice: "A"',
  });
});

test('arguments that follow the full schema, or none, pass unchanged', () => {
  for (const args of [{ cmd: 'ls', env: { A: '1' }, stdin: 'x' }, { cmd: 7, env: ['odd'], more: 1 }, 'text', null]) {
    assert.deepEqual(restoreArgs(schema, 'openai', args), args);
  }
});
