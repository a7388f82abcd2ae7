import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { LockFile } from '../../contracts/external.ts';
import { parseLockFile, platformKey, serializeLockFile } from './lock-file.ts';

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
