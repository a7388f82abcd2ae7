import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { openExternalScene, type Scene } from '../../../test/external-scene.ts';
import type { LockFile } from '../../contracts/external.ts';
import { type LockOptions, lockExternalTools } from '../../lock-external-tools.ts';
import { lockChange, parseLockFile, platformKey, serializeLockFile } from './lock-file.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const LOCK: LockFile = {
  schema_version: 1,
  tools: {
    scan: {
      version: '1.0.0',
      source: 'acme/scan@v1',
      commit: 'abc',
      signer: { issuer: 'i', subject: 's', source_repository_uri: 'u', source_repository_ref: 'r' },
      resolved_from: { registry: 'r', descriptor: 'd' },
      locked_at: '2026-01-02T03:04:05Z',
      platforms: { 'linux/amd64': { digest: DIGEST, files: { 'lib/x': DIGEST }, url: 'https://x.test' } },
    },
    constructor: { version: '', locked_at: '2026-01-02T03:04:05Z', platforms: {} },
  },
};

describe('the lock file', () => {
  test('is read back as it was written, with sorted keys [S4-46]', () => {
    const text = serializeLockFile(LOCK);
    assert.deepEqual(parseLockFile(text), LOCK);
    assert.equal(serializeLockFile(parseLockFile(text)), text);
    assert.ok(text.indexOf('"constructor"') < text.indexOf('"scan"') && text.endsWith('}\n'));
  });

  const edits: readonly [string, (text: string) => string][] = [
    ['a doubled key', (text) => text.replace('"schema_version": 1', '"schema_version": 1, "schem\\u0061_version": 1')],
    ['text behind it', (text) => `${text}{}`],
    ['another version', (text) => text.replace('"schema_version": 1', '"schema_version": 2')],
    ['an unknown key', (text) => text.replace('"commit"', '"comit"')],
    ['an unknown key of a platform', (text) => text.replace('"digest": ', '"digets": "", "digest": ')],
    ['a digest of another kind', (text) => text.replace('sha256:a', 'sha512:a')],
    ['a digest in capitals', (text) => text.replace(`"digest": "sha256:a`, `"digest": "sha256:A`)],
    ['a bad name of a tool', (text) => text.replace('"scan"', '"../scan"')],
    ['a bad platform', (text) => text.replace('linux/amd64', 'linux')],
    ['a bad time', (text) => text.replace('2026-01-02T03:04:05Z', '2026-13-02T03:04:05Z')],
    ['no tools', () => '{"schema_version":1}'],
    ['a list', () => '[]'],
    ['nothing', () => ''],
    ['more than 10 MiB', (text) => text + ' '.repeat(10 * 1024 * 1024)],
  ];
  for (const [name, edit] of edits) {
    test(`is refused with ${name} [S4-46]`, () => {
      const text = serializeLockFile(LOCK);
      assert.notEqual(edit(text), text);
      assert.throws(() => parseLockFile(edit(text)), { code: 'E_VALIDATION_FAIL' });
    });
  }

  test('holds 1000 tools and 100 platforms, not more [S4-46]', () => {
    const tool = (platforms: number) => ({
      version: '1',
      locked_at: '2026-01-02T03:04:05Z',
      platforms: Object.fromEntries(Array.from({ length: platforms }, (_, at) => [`os${at}/cpu`, { digest: DIGEST }])),
    });
    const tools = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`t${at}`, tool(1)]));
    const read = (found: object) => parseLockFile(JSON.stringify({ schema_version: 1, tools: found }));
    assert.equal(Object.keys(read(tools(1000)).tools).length, 1000);
    assert.throws(() => read(tools(1001)), /too many tools/);
    assert.ok(read({ a: tool(100) }));
    assert.throws(() => read({ a: tool(101) }), /too many platforms/);
  });

  test('that is damaged anywhere is refused or means the same [S4-46]', () => {
    const text = serializeLockFile(LOCK);
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.string({ minLength: 1, maxLength: 3 }), (at, inserted) => {
        const damaged = text.slice(0, at) + inserted + text.slice(at);
        try {
          parseLockFile(damaged);
        } catch (thrown) {
          assert.equal((thrown as { code?: string }).code, 'E_VALIDATION_FAIL');
        }
      }),
    );
  });
});

test('platforms have the names of the protocol [S4-46]', () => {
  assert.equal(platformKey({ platform: 'linux', arch: 'x64' }), 'linux/amd64');
  assert.equal(platformKey({ platform: 'win32', arch: 'ia32' }), 'windows/386');
  assert.equal(platformKey({ platform: 'darwin', arch: 'arm64' }), 'darwin/arm64');
});

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

  test('does not trust the other entries of an untrusted lock [S4-46]', async (t) => {
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
