import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { openStateFolder } from '../../platform/state/state-folder.ts';
import { createSqliteFindings } from './findings-sqlite.ts';

let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tool-runtime-findings-'));
  mkdirSync(join(root, 'workspace'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function open() {
  return createSqliteFindings(openStateFolder(join(root, 'state'), { workspace: join(root, 'workspace') }));
}

describe('the finding cache', () => {
  test('remembers across runtimes, and forgets what was replaced [S0-57]', () => {
    const first = open();
    assert.equal(first.get('a'), undefined);
    first.set('a', '1');
    first.set('a', '2');
    first.close();
    const second = open();
    assert.equal(second.get('a'), '2');
    second.close();
  });

  test('a damaged file is begun anew [S0-57]', () => {
    const first = open();
    first.set('a', '1');
    first.close();
    for (const suffix of ['-wal', '-shm']) rmSync(join(root, 'state', `findings.db${suffix}`), { force: true });
    writeFileSync(
      join(root, 'state', 'findings.db'),
      'this is no database, and long enough to be taken for one'.repeat(100),
    );
    const second = open();
    assert.equal(second.get('a'), undefined);
    second.set('a', '2');
    assert.equal(second.get('a'), '2');
    second.close();
  });

  test('two at once do not disturb each other [S0-57]', () => {
    const [one, other] = [open(), open()];
    for (let count = 0; count < 50; count++) {
      one.set(`one${count}`, 'x');
      other.set(`other${count}`, 'y');
    }
    assert.deepEqual([one.get('other49'), other.get('one49')], ['y', 'x']);
    one.close();
    other.close();
  });
});
