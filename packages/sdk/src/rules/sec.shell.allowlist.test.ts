import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonValue } from '@tool-runtime/protocol';
import type { RuleSubject } from '../contracts/rule.ts';
import { compileAllowlistPattern } from '../pattern/compile-pattern.ts';
import { readCommand } from '../shell/read-command.ts';
import { secShellAllowlist } from './sec.shell.allowlist.ts';

const registry = {
  shellAllow: ['^npm test( .*)?$', '^rg ', '^ls$'].map(compileAllowlistPattern),
  shellDeny: [],
  shellAsk: [],
  isolation: 'bubblewrap',
  shell: { mode: 'strict', unseen: 'allow' },
  sandbox: { env: ['PYTHONPATH'] },
};

function subject(command: JsonValue, env?: JsonValue): RuleSubject {
  return {
    tool: 'any',
    args: {},
    paths: [],
    urls: [],
    commands: [{ key: 'cmd', value: command, list: () => readCommand(command) }],
    environments: env === undefined ? [] : [{ key: 'env', value: env }],
    profile: { kind: 'execute', side_effect_level: 'process_exec', effect: 'process', risk: 'high' },
    changes: [],
  };
}

const violations = async (command: JsonValue, env?: JsonValue, more: object = {}) =>
  secShellAllowlist.check(subject(command, env), { registry: { ...registry, ...more } } as never);

describe('sec.shell.allowlist [S0-12 S0-61]', () => {
  for (const line of ['npm test', "npm test -- 'a b'", 'rg x | rg y', 'ls && npm test; ls', ['rg', 'a b']]) {
    test(`passes ${JSON.stringify(line)} [S0-12]`, async () => assert.deepEqual(await violations(line), []));
  }

  for (const line of [
    'npm test; curl example.org',
    'npm test && rm -rf .',
    'npm test $(id)',
    'npm test `id`',
    'npm test > out',
    'npm test\ncurl x',
    'npm\u00a0test',
    'A=b npm test',
    'rg --pre sh x',
    'npm testing',
    ['npm test'],
    ['npm', 'test\n'],
    '',
  ]) {
    test(`section 6.4 refuses ${JSON.stringify(line)} and says why [S0-12]`, async () => {
      const [violation] = await violations(line);
      assert.equal(violation?.path, 'cmd');
      assert.equal(typeof violation?.details?.['next'], 'string');
    });
  }

  test('judges the environment: loader variables are refused, harmless ones pass [S0-36]', async () => {
    assert.equal((await violations('ls', { LD_PRELOAD: 'x.so' }))[0]?.path, 'env');
    assert.equal((await violations('ls', { A: 7 }))[0]?.path, 'env');
    assert.deepEqual(await violations('ls', { RUSTFLAGS: '', NODE_ENV: 'test' }), []);
  });

  test('lets variables through that the registry allows, but only into a sandbox [S0-36]', async () => {
    assert.deepEqual(await violations('ls', { PYTHONPATH: 'src' }), []);
    assert.equal((await violations('ls', { PYTHONPATH: 'src' }, { isolation: 'none' }))[0]?.path, 'env');
    const sandboxed = { shell: { mode: 'sandboxed', unseen: 'allow' } };
    assert.deepEqual(await violations('ls', { NODE_PATH: 'src' }, sandboxed), []);
    assert.equal((await violations('ls', { LD_PRELOAD: 'x' }, sandboxed))[0]?.path, 'env');
    assert.equal((await violations('ls', { NODE_PATH: 'x' }, { ...sandboxed, isolation: 'none' }))[0]?.path, 'env');
    assert.equal((await violations('ls', { NODE_PATH: 'src' }))[0]?.path, 'env');
  });
});
