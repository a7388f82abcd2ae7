import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { SCOPES } from '@tool-runtime/protocol';
import { createToken } from './token-digest.ts';
import { ensureTokenFile, readTokenFile } from './token-file.ts';

function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-token-'));
  const path = join(folder, 'state', 'host.token');
  return { folder, path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

describe('ensureTokenFile', () => {
  test('makes a private file with one token of all scopes, and leaves it alone afterwards', () => {
    using place = scratch();
    const made = ensureTokenFile(place.path);
    assert.match(made.mainToken ?? '', /^trt_[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(
      made.entries.map(({ name, scopes }) => ({ name, scopes })),
      [{ name: 'main', scopes: new Set(SCOPES) }],
    );
    assert.equal(made.isNew, true);
    assert.equal(statSync(place.path).mode & 0o777, 0o600);
    assert.equal(statSync(join(place.folder, 'state')).mode & 0o777, 0o700);
    assert.deepEqual(ensureTokenFile(place.path), { ...made, isNew: false });
    assert.deepEqual(readdirSync(join(place.folder, 'state')), ['host.token']);
  });

  test('gives one token to all processes that start at once', async () => {
    using place = scratch();
    const script = `import { ensureTokenFile } from ${JSON.stringify(join(import.meta.dirname, 'token-file.ts'))};
      const { mainToken, isNew } = ensureTokenFile(process.argv[1]);
      console.log(JSON.stringify({ mainToken, isNew }));`;
    const runs = Array.from({ length: 6 }, () =>
      spawn(process.execPath, ['-C', 'tool-runtime-source', '--input-type=module', '-e', script, place.path], {
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    );
    const said = await Promise.all(runs.map(async (run) => JSON.parse(await text(run.stdout))));
    assert.equal(new Set(said.map(({ mainToken }) => mainToken)).size, 1);
    assert.equal(said.filter(({ isNew }) => isNew).length, 1);
    assert.deepEqual(readdirSync(join(place.folder, 'state')), ['host.token']);
  });
});

describe('readTokenFile', () => {
  test('refuses a file that others may read, until its mode is fixed', () => {
    using place = scratch();
    const { mainToken } = ensureTokenFile(place.path);
    for (const mode of [0o640, 0o604, 0o620, 0o601]) {
      chmodSync(place.path, mode);
      assert.throws(() => readTokenFile(place.path), {
        code: 'E_POLICY',
        message: `File is open to other users: ${place.path}`,
        details: {
          gate: 'auth',
          reason: 'file_not_private',
          next: `chmod 600 ${place.path}, and replace what was in it`,
        },
      });
    }
    chmodSync(place.path, 0o400);
    assert.equal(readTokenFile(place.path).mainToken, mainToken);
  });

  test('refuses a link, a folder, a file of another user and a missing one', () => {
    using place = scratch();
    ensureTokenFile(place.path);
    const link = join(place.folder, 'link');
    symlinkSync(place.path, link);
    assert.throws(() => readTokenFile(link), { code: 'E_POLICY', message: /symbolic link/ });
    assert.throws(() => ensureTokenFile(link), { code: 'E_POLICY', message: /symbolic link/ });
    assert.throws(() => readTokenFile(place.folder), { code: 'E_POLICY', message: /Not a regular file/ });
    assert.throws(() => readTokenFile(join(place.folder, 'none')), { code: 'E_FILE_IO', message: /not found/ });
    if (process.geteuid?.() === 0) {
      chownSync(place.path, 12_345, 12_345);
      assert.throws(() => readTokenFile(place.path), { code: 'E_POLICY', message: /another user/ });
      chownSync(place.path, 0, 0);
    }
    assert.equal(readTokenFile(place.path).entries.length, 1);
  });

  test('refuses a file that is too large, and names the line of one that is wrong', () => {
    using place = scratch();
    ensureTokenFile(place.path);
    writeFileSync(place.path, `#${'x'.repeat(300_000)}`);
    assert.throws(() => readTokenFile(place.path), { code: 'E_FILE_IO', message: /larger than/ });
    writeFileSync(place.path, `# a\n${createToken()}\nnonsense`);
    assert.throws(() => readTokenFile(place.path), { code: 'E_VALIDATION_FAIL', message: /line 3/ });
    writeFileSync(place.path, `# a\n${createToken()}\n`);
    assert.equal(readTokenFile(place.path).entries.length, 1);
  });
});
