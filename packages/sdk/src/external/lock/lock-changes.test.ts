import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { openExternalScene, type Scene } from '../../../test/external-scene.ts';
import type { LockFile } from '../../contracts/external.ts';
import { type LockOptions, lockExternalTools } from '../../lock-external-tools.ts';
import { lockChange } from './lock-changes.ts';

const DIGESTS = ['a', 'b'].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string];

function lockOf(digest: string, more: object = {}): LockFile {
  const tool = { version: '1', locked_at: '2026-01-01T00:00:00Z', platforms: { 'linux/amd64': { digest } }, ...more };
  return { schema_version: 1, tools: { a: tool } };
}

describe('what locking changes', () => {
  const [first, second] = DIGESTS;
  for (const [subject, before, after, expected] of [
    ['a tool that was not locked', undefined, lockOf(first), ['new', undefined, []]],
    [
      'another platform',
      lockOf(first, { platforms: { 'x/y': { digest: second } } }),
      lockOf(first),
      ['new', undefined, []],
    ],
    ['only the time', lockOf(first), lockOf(first, { locked_at: '2027-01-01T00:00:00Z' }), ['unchanged', first, []]],
    ['the program', lockOf(first), lockOf(second), ['changed', first, ['digest']]],
    [
      'what is known of it',
      lockOf(first),
      lockOf(first, { version: '2', commit: 'c' }),
      ['changed', first, ['commit', 'version']],
    ],
  ] as const) {
    test(`is told for ${subject} [S4-46]`, () => {
      const { change, before: was, fields } = lockChange({ tool: 'a', platform: 'linux/amd64', before, after });
      assert.deepEqual([change, was, fields], expected);
    });
  }

  test('is not confused by the names every object has [S4-46]', () => {
    const { change } = lockChange({
      tool: 'constructor',
      platform: 'linux/amd64',
      before: lockOf(first),
      after: lockOf(first),
    });
    assert.equal(change, 'new');
  });
});

describe('locking again', () => {
  async function openScene(t: TestContext): Promise<Scene> {
    const scene = await openExternalScene({ lock: 'nothing', tools: ['name: a', 'name: gone, command: gone.sh'] });
    t.after(() => scene.dispose());
    return scene;
  }

  function lock({ workspace, state, operator, runtime }: Scene, more: Partial<LockOptions> = {}) {
    const registryFile = join(operator, 'tool-runtime.yaml');
    return lockExternalTools({ workspace, state, registry: runtime.registry, registryFile, tools: ['a'], ...more });
  }

  test('leaves an unchanged entry as it is, down to the time [S4-46] (deep)', async (t) => {
    const scene = await openScene(t);
    await lock(scene, { metadata: { a: { url: 'https://x.test/a' } } });
    const old = readFileSync(scene.lockPath, 'utf8').replace(
      /"locked_at": "[^"]+"/,
      '"locked_at": "2001-01-01T00:00:00Z"',
    );
    writeFileSync(scene.lockPath, old);
    const { changes } = await lock(scene);
    assert.deepEqual([changes[0]?.change, readFileSync(scene.lockPath, 'utf8')], ['unchanged', old]);
    appendFileSync(join(scene.operator, 'tool.sh'), '# newer\n');
    assert.deepEqual((await lock(scene)).changes[0]?.fields, ['digest', 'url']);
  });

  test('writes nothing when it only checks, and tells a missing program like a difference [S4-46]', async (t) => {
    const scene = await openScene(t);
    const looked = await lock(scene, { check: true, tools: ['a', 'gone'] });
    assert.deepEqual(
      [looked.changes.map(({ change }) => change), looked.isTrusted, existsSync(scene.lockPath)],
      [['new', 'not_found'], false, false],
    );
    await lock(scene);
    const { mtimeNs } = statSync(scene.lockPath, { bigint: true });
    const again = await lock(scene, { check: true });
    assert.deepEqual([again.changes[0]?.change, again.isTrusted], ['unchanged', true]);
    assert.equal(statSync(scene.lockPath, { bigint: true }).mtimeNs, mtimeNs);
  });

  test('does not trust by the way what stands in a lock that nobody trusts [S4-46]', async (t) => {
    const scene = await openScene(t);
    const inWorkspace = join(scene.workspace, 'tool-runtime.yaml');
    writeFileSync(join(scene.workspace, 'tool.sh'), readFileSync(join(scene.operator, 'tool.sh')));
    const planted = JSON.stringify(lockOf(DIGESTS[0]));
    writeFileSync(join(scene.workspace, 'tool-runtime.lock'), planted);
    await assert.rejects(lock(scene, { registryFile: inWorkspace }), { code: 'E_POLICY' });
    assert.equal(readFileSync(join(scene.workspace, 'tool-runtime.lock'), 'utf8'), planted);
    const looked = await lock(scene, { registryFile: inWorkspace, check: true });
    assert.deepEqual([looked.isTrusted, looked.changes[0]?.change], [false, 'changed']);
  });
});
