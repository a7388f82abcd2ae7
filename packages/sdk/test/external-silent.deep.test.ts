/** A program that does not answer what it can do within its time: the limit is told as one, never as a fault of the runtime. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openExternalScene } from './external-scene.ts';

const SILENT = `#!/bin/sh
if [ "$1" = --capabilities ]; then sleep 1000; fi
echo ran
`;

test('a tool that never says what it can do runs as one that says nothing, once its time for the answer is up', async () => {
  const scene = await openExternalScene({
    tools: ['name: silent, command: silent.sh'],
    files: { 'silent.sh': SILENT },
  });
  try {
    const { ok, errors } = await scene.session.call('silent', {}, { timeoutMs: 60_000 });
    assert.ok(ok || errors.every(({ code }) => code !== 'E_INTERNAL'), JSON.stringify(errors));
    assert.doesNotMatch(JSON.stringify(errors), /failed unexpectedly/);
    assert.equal(scene.results().length, 1);
  } finally {
    await scene.dispose();
  }
});

test('a call whose own time is up before that ends with E_TIMEOUT', async () => {
  const scene = await openExternalScene({
    tools: ['name: silent, command: silent.sh'],
    files: { 'silent.sh': SILENT },
  });
  try {
    const { errors } = await scene.session.call('silent', {}, { timeoutMs: 2_000 });
    assert.equal(errors[0]?.code, 'E_TIMEOUT', JSON.stringify(errors));
    assert.match(errors[0]?.message ?? '', /took longer than/);
  } finally {
    await scene.dispose();
  }
});
