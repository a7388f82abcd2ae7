import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';

const SCRIPT = path.join(import.meta.dirname, '../scripts/setup-system');
/** What the script itself needs; no package manager, so that nothing is installed. */
const PROGRAMS = ['bash', 'id', 'sort', 'head', 'grep', 'mktemp', 'cat'];

function run(words: readonly string[], programs: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const bin = mkdtempSync(path.join(os.tmpdir(), 'setup-system-'));
  try {
    for (const name of [...PROGRAMS, ...programs]) {
      symlinkSync(
        execFileSync('bash', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
        path.join(bin, name),
      );
    }
    const { status, stdout, stderr } = spawnSync(path.join(bin, 'bash'), [SCRIPT, ...words], {
      env: { PATH: bin, ...env },
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  } finally {
    rmSync(bin, { recursive: true });
  }
}

describe('scripts/setup-system with names, as npm start runs it', () => {
  test('says nothing when the programs are there', () => {
    assert.deepEqual(run(['git', 'bwrap'], ['git', 'bwrap']), { status: 0, stdout: '', stderr: '' });
  });

  test('says in one line for each what is missing, and does not fail', () => {
    const { status, stdout, stderr } = run(['git', 'bwrap'], ['git'], { CI: 'true' });
    assert.deepEqual([status, stdout], [0, '']);
    assert.equal(
      stderr,
      'warning: bwrap is not installed (package bubblewrap); calls that need it are refused until you install it\n',
    );
  });

  test('without names a missing program fails where CI is set', () => {
    const { status, stderr } = run([], ['git', 'bwrap'], { CI: 'true' });
    assert.equal(status, 1);
    assert.match(stderr, /error: strace is not installed \(package strace\)/);
  });
});
