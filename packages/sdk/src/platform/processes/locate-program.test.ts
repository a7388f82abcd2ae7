import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { locateProgram } from './locate-program.ts';

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
