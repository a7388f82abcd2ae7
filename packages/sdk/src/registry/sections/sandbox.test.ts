import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Registry } from '../../contracts/registry.ts';
import { defaultRegistry } from '../build-registry.ts';
import { loadRegistry } from '../load-registry.ts';
import { narrowRegistry } from '../narrow-registry.ts';

function load(text: string): Registry {
  const known = { rules: new Map(), tools: new Set<string>(), engines: new Set<never>() };
  return loadRegistry(`version: 1\n${text}\n`, { file: 'r.yaml', ...known });
}

describe('sandbox', () => {
  test('takes toolchains, paths, caches and variables', () => {
    const { sandbox } = load(
      'sandbox: {toolchains: [rust, pyenv], read_only: [/opt/sdk, ~/tools], path: [~/bin], caches: [npm], env: [PYTHONPATH, "NODE_*"]}',
    );
    assert.deepEqual(sandbox, {
      toolchains: ['rust', 'pyenv'],
      read_only: ['/opt/sdk', '~/tools'],
      path: ['~/bin'],
      caches: ['npm'],
      env: ['PYTHONPATH', 'NODE_*'],
    });
    assert.equal(load('').sandbox.toolchains, undefined);
  });

  test('refuses what is no path, toolchain, cache or name', () => {
    for (const text of [
      'read_only: [tools]',
      'read_only: ["~"]',
      'read_only: [/]',
      'path: [~/a/../b]',
      'path: [~other/x]',
    ]) {
      assert.throws(() => load(`sandbox: {${text}}`), /absolute path|\.\. in it/, text);
    }
    assert.throws(() => load('sandbox: {toolchains: [ruts]}'), /did you mean/);
    assert.throws(() => load('sandbox: {caches: [apt]}'), /Unknown value/);
    assert.throws(() => load('sandbox: {env: ["A B"]}'), /name of a variable/);
    assert.throws(() => load('sandbox: {env: ["*_PROXY"]}'), /name of a variable/);
  });

  const host = load(
    'sandbox: {toolchains: [rust, go], read_only: [/opt/sdk], path: [~/bin], caches: [npm, pip], env: ["PYTHON*"]}',
  );
  const narrow = (outer: Registry, text: string) => narrowRegistry(outer, load(text), { overreach: 'warn' });

  test('of a session can only be narrower than that of the host [S0-23]', () => {
    const asked =
      'sandbox: {toolchains: [rust, nvm], read_only: [/opt/sdk/a, /opt], path: [~/bin, /x/bin], caches: [npm, go], env: [PYTHONPATH, NODE_OPTIONS]}';
    const { sandbox, warnings } = narrow(host, asked);
    assert.deepEqual(sandbox, {
      toolchains: ['rust'],
      read_only: ['/opt/sdk/a'],
      path: ['~/bin'],
      caches: ['npm'],
      env: ['PYTHONPATH'],
    });
    assert.deepEqual(
      warnings.map(({ path }) => path),
      ['sandbox.toolchains.1', 'sandbox.read_only.1', 'sandbox.path.1', 'sandbox.caches.1', 'sandbox.env.1'],
    );
    assert.throws(() => narrowRegistry(host, load(asked), { overreach: 'error' }), { code: 'E_POLICY' });
  });

  test('that a session leaves out has no more than that of the host, and is no overreach [S0-23]', () => {
    const { sandbox, warnings } = narrow(host, '');
    assert.deepEqual(sandbox, { toolchains: ['rust', 'go'], read_only: [], path: [], caches: ['npm', 'pip'], env: [] });
    assert.deepEqual(warnings, []);
  });

  test('of a registry that is not trusted shows only toolchains and allows no variable [S0-23]', () => {
    const { sandbox } = narrow(
      defaultRegistry(),
      'sandbox: {toolchains: [go], read_only: [/opt], path: [/x], env: [PYTHONPATH]}',
    );
    assert.deepEqual([sandbox.toolchains, sandbox.read_only, sandbox.path, sandbox.env], [['go'], [], [], []]);
  });
});
