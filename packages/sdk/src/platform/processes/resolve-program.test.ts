import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { findShell, locateProgram, resolveProgram } from './resolve-program.ts';

test('a program is found by its bare name in the given folders, never by a path [S0-36]', (t) => {
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

const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-locate-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const program = join(folder, 'program');
const script = join(folder, 'script');
writeFileSync(program, '#!/bin/sh\n');
writeFileSync(script, '');
chmodSync(program, 0o755);
chmodSync(script, 0o644);
mkdirSync(join(folder, 'a-folder'));

function refused(reason: string): (thrown: unknown) => boolean {
  return (thrown) => isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL' && thrown.details['reason'] === reason;
}

describe('locateProgram', () => {
  test('finds a program by its path, absolute or from the working directory', () => {
    assert.equal(locateProgram(program, { must: 'run' }), program);
    assert.equal(locateProgram(relative(process.cwd(), program), { must: 'run' }), program);
  });

  test('finds a bare name in PATH, but only to run it', () => {
    assert.match(locateProgram('sh', { must: 'run' }), /^\/.*\/sh$/);
    assert.throws(() => locateProgram('sh', { must: 'readable' }), refused('not_found'));
  });

  test('takes a script only when something else runs it', () => {
    assert.equal(locateProgram(script, { must: 'readable' }), script);
    assert.throws(() => locateProgram(script, { must: 'run' }), refused('not_accessible'));
  });

  test('refuses what is not there and what is no file', () => {
    assert.throws(() => locateProgram(join(folder, 'nothing'), { must: 'run' }), refused('not_found'));
    assert.throws(() => locateProgram(join(folder, 'a-folder'), { must: 'run' }), refused('not_found'));
  });
});

test('scripts run in bash, or in sh where there is no bash', () => {
  const search = { folders: [join(folder, 'shells')], workspace: join(folder, 'elsewhere') };
  mkdirSync(join(folder, 'shells'));
  assert.throws(() => findShell(search), /Program not found: sh/);
  for (const name of ['sh', 'bash']) {
    writeFileSync(join(folder, 'shells', name), '', { mode: 0o755 });
    assert.deepEqual(findShell(search), { name, program: join(folder, 'shells', name) });
  }
});
