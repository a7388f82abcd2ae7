import assert from 'node:assert/strict';
import { existsSync, lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { openExternalScene, SCRIPT, type Scene, type SceneOptions } from '../test/external-scene.ts';
import { platformKey, serializeLockFile } from './external/lock/lock-file.ts';
import { type LockOptions, lockExternalTools } from './lock-external-tools.ts';
import { digest, sha256Hex } from './platform/digest.ts';
import { revokeWorkspaceFiles, trustWorkspaceFiles } from './trust-registry.ts';

const HERE = platformKey(process);

async function openScene(t: TestContext, options: SceneOptions): Promise<Scene> {
  const scene = await openExternalScene({ lock: 'nothing', ...options });
  t.after(() => scene.dispose());
  return scene;
}

function lock({ workspace, state, operator, runtime }: Scene, more: Partial<LockOptions> = {}) {
  const registryFile = join(operator, 'tool-runtime.yaml');
  return lockExternalTools({ workspace, state, registry: runtime.registry, registryFile, ...more });
}

describe('locking external tools', () => {
  test('writes digest, version and source beside the registry, and leaves nothing else [S4-46]', async (t) => {
    const scene = await openScene(t, {
      tools: ['name: a, source: acme/a@v1, files: [lib]', 'name: b'],
      files: { 'lib/x': 'x' },
    });
    const report = await lock(scene, {
      metadata: {
        b: { signer: { subject: 's' }, commit: 'c', url: 'https://x.test/b', resolved_from: { registry: 'r' } },
      },
    });
    assert.deepEqual([report.path, report.locked], [scene.lockPath, ['a', 'b']]);
    const text = readFileSync(scene.lockPath, 'utf8');
    assert.deepEqual([serializeLockFile(report.lock), sha256Hex(text)], [text, report.sha256]);
    const { a, b } = report.lock.tools;
    assert.deepEqual(a?.platforms, { [HERE]: { digest: digest(SCRIPT), files: { 'lib/x': digest('x') } } });
    assert.deepEqual([a?.version, a?.source], ['1.2.3', 'acme/a@v1']);
    assert.deepEqual([b?.signer, b?.commit, b?.platforms[HERE]?.url], [{ subject: 's' }, 'c', 'https://x.test/b']);
    assert.equal(lstatSync(scene.lockPath).mode & 0o777, 0o644);
    assert.deepEqual(readdirSync(scene.operator).sort(), ['lib', 'tool-runtime.lock', 'tool-runtime.yaml', 'tool.sh']);
    assert.deepEqual(readdirSync(join(scene.state, 'external', 'exec')), []);
  });

  test('keeps other tools and other platforms, and what it is not told anew [S4-46]', async (t) => {
    const scene = await openScene(t, { tools: ['name: a', 'name: b'] });
    const { lock: first } = await lock(scene, { metadata: { a: { commit: 'c' } } });
    const foreign = { digest: `sha256:${'b'.repeat(64)}` };
    const edited = structuredClone(first) as unknown as {
      tools: Record<string, { platforms: Record<string, unknown> }>;
    };
    Object.assign(edited.tools['a']?.platforms ?? {}, { 'plan9/mips': foreign });
    writeFileSync(scene.lockPath, JSON.stringify(edited));
    writeFileSync(join(scene.operator, 'tool.sh'), `${SCRIPT}\n# newer\n`);
    const { lock: second, locked } = await lock(scene, { tools: ['a'] });
    assert.deepEqual(locked, ['a']);
    assert.deepEqual(second.tools['b'], first.tools['b']);
    assert.deepEqual(second.tools['a']?.platforms['plan9/mips'], foreign);
    assert.equal(second.tools['a']?.commit, 'c');
    assert.notEqual(second.tools['a']?.platforms[HERE]?.digest, first.tools['a']?.platforms[HERE]?.digest);
  });

  test('does not pin a program that says it is another tool or speaks another protocol [S4-35]', async (t) => {
    const script = (answer: string): string => `#!/bin/sh\necho '${answer}'\n`;
    const scene = await openScene(t, {
      tools: ['name: a', 'name: b, command: b.sh', 'name: c, command: c.sh'],
      files: { 'b.sh': script('{"name":"other"}'), 'c.sh': script('{"name":"c","protocol_version":2}') },
    });
    for (const name of ['b', 'c']) {
      await assert.rejects(lock(scene, { tools: [name] }), { code: 'E_POLICY' });
      assert.equal(existsSync(scene.lockPath), false);
    }
    assert.deepEqual((await lock(scene, { tools: ['a'] })).locked, ['a']);
  });

  test('writes nothing when a tool is not listed, its program is missing, or the lock is broken [S4-46]', async (t) => {
    const scene = await openScene(t, { tools: ['name: a', 'name: gone, command: gone.sh'] });
    await assert.rejects(lock(scene, { tools: ['c'] }), { code: 'E_VALIDATION_FAIL' });
    await assert.rejects(lock(scene), { code: 'E_SHELL' });
    assert.equal(existsSync(scene.lockPath), false);
    writeFileSync(scene.lockPath, '{');
    await assert.rejects(lock(scene, { tools: ['a'] }), { code: 'E_VALIDATION_FAIL' });
    assert.equal(readFileSync(scene.lockPath, 'utf8'), '{');
  });
});

describe('trusting the files of a workspace', () => {
  test('is for registry and lock together, by content [S4-46]', async (t) => {
    const scene = await openScene(t, { tools: ['name: a'] });
    const target = { workspace: scene.workspace, state: scene.state };
    await assert.rejects(trustWorkspaceFiles(target), { code: 'E_FILE_IO' });
    writeFileSync(join(scene.workspace, 'tool-runtime.yaml'), 'version: 1\n');
    writeFileSync(join(scene.workspace, 'tool-runtime.lock'), '{}');
    const trusted = await trustWorkspaceFiles(target);
    assert.deepEqual(
      trusted.map(({ file, sha256 }) => [file, sha256]),
      [
        ['tool-runtime.yaml', sha256Hex('version: 1\n')],
        ['tool-runtime.lock', sha256Hex('{}')],
      ],
    );
    assert.deepEqual(
      await revokeWorkspaceFiles(target),
      trusted.map(({ file, sha256 }) => ({ file, sha256 })),
    );
    assert.deepEqual(await revokeWorkspaceFiles(target), []);
  });
});
