import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { resolveProgram } from './resolve-program.ts';

test('S0-36 a program is found by its bare name in the given folders, never by a path', (t) => {
  const root = mkdtempSync(join(tmpdir(), 'resolve-program-'));
  t.after(() => rmSync(root, { recursive: true }));
  for (const folder of ['bin', 'other', 'workspace']) {
    mkdirSync(join(root, folder));
    writeFileSync(join(root, folder, 'tool'), '#!/bin/sh\n');
    chmodSync(join(root, folder, 'tool'), 0o755);
  }
  const search = { folders: [join(root, 'bin')], workspace: join(root, 'workspace') };
  assert.equal(resolveProgram('tool', search), join(root, 'bin', 'tool'));
  for (const name of ['../other/tool', '../bin/tool', './tool', join(root, 'other', 'tool')]) {
    assert.throws(() => resolveProgram(name, search), { code: 'E_SHELL', message: /^Program not found/ });
  }
  const exactProgram = join(root, 'other', 'tool');
  assert.equal(resolveProgram(exactProgram, { ...search, exactProgram }), exactProgram);
});
