import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import { registryJsonSchema } from '@tool-runtime/sdk/parts';
import { analyzerSchema } from '../tools/external/analyzer-settings.ts';
import { KNOWN_PROVIDERS } from './known-providers.ts';
import { lspProviderSchema, resolveProviders } from './resolve-providers.ts';

const byName = (name: string, registry: Parameters<typeof resolveProviders>[0]) =>
  resolveProviders(registry).find((provider) => provider.name === name);

describe('the providers of a session', () => {
  test('are the known ones without a registry [S0-56]', () => {
    assert.deepEqual(resolveProviders(), KNOWN_PROVIDERS);
    assert.equal(new Set(KNOWN_PROVIDERS.map(({ name }) => name)).size, KNOWN_PROVIDERS.length);
  });

  test('are changed key by key [S0-56]', () => {
    const known = byName('pyright', {});
    const changed = byName('pyright', {
      pyright: {
        command: 'basedpyright-langserver',
        args: ['--stdio', '--verbose'],
        root_markers: ['my.toml'],
        initialization_options: { a: 1 },
        settings: { python: { pythonPath: 'python3' } },
        env: { PYTHONPATH: 'lib' },
        ready: { strategy: 'log-match', lines: ['ready*'] },
        memory_mb: 100,
      },
    });
    assert.deepEqual(changed, {
      ...known,
      command: 'basedpyright-langserver',
      args: ['--stdio', '--verbose'],
      rootMarkers: ['my.toml'],
      initializationOptions: { a: 1 },
      settings: { python: { pythonPath: 'python3' } },
      env: { PYTHONPATH: 'lib' },
      ready: { kind: 'log-match', lines: ['ready*'], rescanMs: 3_000 },
      memoryMb: 100,
    });
  });

  test('can be switched off, and new ones come first [S0-56]', () => {
    const providers = resolveProviders({
      gopls: { enabled: false },
      zls: { kind: 'lsp', command: 'zls', documents: { '.zig': 'zig' } },
    });
    assert.equal(providers[0]?.name, 'zls');
    assert.deepEqual(providers[0]?.languages, ['zig']);
    assert.equal(
      providers.some(({ name }) => name === 'gopls'),
      false,
    );
  });

  test('leave analyzers alone, also one that bears the name of a server [S0-56]', () => {
    const registry = { semgrep: { command: 'semgrep' }, pyright: { kind: 'analyzer', anything: true } };
    assert.deepEqual(resolveProviders(registry), KNOWN_PROVIDERS);
  });

  const wrong: readonly [string, Parameters<typeof resolveProviders>[0]][] = [
    ['providers.pyright.command', { pyright: { command: '/usr/bin/pyright' } }],
    ['providers.pyright', { pyright: { comand: 'x' } }],
    ['providers.pyright.memory_mb', { pyright: { memory_mb: 1 } }],
    ['providers.pyright.ready.strategy', { pyright: { ready: { strategy: 'soon' } } }],
    ['providers.zls.command', { zls: { kind: 'lsp', documents: { '.zig': 'zig' } } }],
    ['providers.zls.documents', { zls: { kind: 'lsp', command: 'zls' } }],
    ['providers.pyright', { pyright: 'yes' }],
  ];
  for (const [field, registry] of wrong) {
    test(`refuses ${JSON.stringify(registry)} and names ${field} [S0-56]`, () => {
      assert.throws(
        () => resolveProviders(registry),
        (thrown) => isToolError(thrown) && thrown.code === 'E_VALIDATION_FAIL' && thrown.path === field,
      );
    });
  }
});

test('the registry knows every key of a provider, and no other', () => {
  const { properties } = registryJsonSchema() as {
    properties: Record<string, { additionalProperties: { properties: object } }>;
  };
  const known = Object.keys(properties['providers']?.additionalProperties.properties ?? {});
  const read = new Set([...Object.keys(lspProviderSchema.shape), ...Object.keys(analyzerSchema.shape)]);
  assert.deepEqual(known.toSorted(), [...read].toSorted());
});
