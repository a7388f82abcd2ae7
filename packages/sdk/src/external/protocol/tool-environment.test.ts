import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { probeEnvironment, proxyVariables, runEnvironment, secretsOf } from './tool-environment.ts';

const PLACES = { home: '/h', temporary: '/t' };
const FACTS = { runId: 'id', runFolder: '/run', startedAt: 'now', projectRoot: '/w' };
const HOST = {
  PATH: '/evil',
  HOME: '/me',
  LD_PRELOAD: '/evil.so',
  TOOL_RUN_ID: 'forged',
  TOOL_IDENTITY: 'ann',
  EPACK_IDENTITY: 'bob',
  GITHUB_TOKEN: 'secret',
  LISTED: 'listed',
  TZ: 'Europe/Berlin',
  LANG: 'de_DE.UTF-8',
  HTTP_PROXY: 'http://p.test:1',
};

function environment(profile: 'neutral' | 'epack', secrets: readonly string[], host: Record<string, string> = HOST) {
  const settings = { name: 'scan', profile, secrets, network: false };
  return { settings, host, wrapperVersion: '0.1.0' };
}

describe('the environment of a tool', () => {
  test('is built from nothing [S4-44]', () => {
    assert.deepEqual(runEnvironment(environment('neutral', ['LISTED']), FACTS, PLACES), {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: '/h',
      TMPDIR: '/t',
      LANG: 'de_DE.UTF-8',
      TERM: 'dumb',
      TZ: 'Europe/Berlin',
      LISTED: 'listed',
      TOOL_RUN_ID: 'id',
      TOOL_RUN_DIR: '/run',
      TOOL_STARTED_AT: 'now',
      TOOL_NAME: 'scan',
      TOOL_PROTOCOL_VERSION: '1',
      TOOL_WRAPPER_VERSION: '0.1.0',
      TOOL_PROJECT_ROOT: '/w',
      TOOL_JSON: '1',
      TOOL_IDENTITY: 'ann',
    });
  });

  test('has the time zone of the host when it is the name of one [S4-44]', () => {
    const zoneOf = (TZ: string) => runEnvironment(environment('neutral', [], { TZ }), FACTS, PLACES)['TZ'];
    for (const zone of ['UTC', 'America/Argentina/Buenos_Aires', 'EST5EDT', ':Etc/GMT+1'])
      assert.equal(zoneOf(zone), zone);
    for (const other of ['', 'a b', '$(id)', 'UTC\nLD_PRELOAD=x', 'x'.repeat(65)])
      assert.equal(zoneOf(other), undefined);
  });

  test('has epack’s names in its profile [S4-44]', () => {
    const facts = { ...FACTS, packPath: '/p', packDigest: 'd', configPath: '/c', inputs: '{}', inputsPath: '/i' };
    const names = Object.keys(runEnvironment(environment('epack', []), facts, PLACES)).filter((name) =>
      /^EPACK|^TOOL/.test(name),
    );
    assert.deepEqual(names.sort(), [
      'EPACK_IDENTITY',
      'EPACK_INPUTS',
      'EPACK_INPUTS_FILE',
      'EPACK_JSON',
      'EPACK_PACK_DIGEST',
      'EPACK_PACK_PATH',
      'EPACK_PROJECT_ROOT',
      'EPACK_PROTOCOL_VERSION',
      'EPACK_RUN_DIR',
      'EPACK_RUN_ID',
      'EPACK_STARTED_AT',
      'EPACK_TOOL_CONFIG',
      'EPACK_TOOL_NAME',
      'EPACK_WRAPPER_VERSION',
    ]);
  });

  test('never takes a reserved name from the host, even where it is listed [S4-44]', () => {
    assert.deepEqual(secretsOf({ secrets: ['LD_PRELOAD', 'TOOL_RUN_ID', 'PATH', 'MISSING', 'LISTED'] }, HOST), {
      LISTED: 'listed',
    });
    const made = runEnvironment(environment('neutral', ['TOOL_RUN_ID', 'PATH']), FACTS, PLACES);
    assert.deepEqual([made['TOOL_RUN_ID'], made['PATH'] === '/evil'], ['id', false]);
  });

  test('has the mark and nothing of the run when the tool is asked about itself [S4-34]', () => {
    const asked = probeEnvironment(environment('neutral', ['LISTED']), PLACES);
    assert.deepEqual(
      Object.keys(asked)
        .filter((name) => /^TOOL|LISTED/.test(name))
        .sort(),
      ['TOOL_MODE', 'TOOL_NAME', 'TOOL_PROTOCOL_VERSION', 'TOOL_WRAPPER_VERSION'],
    );
    assert.equal(asked['TOOL_MODE'], 'capabilities');
    assert.equal(probeEnvironment(environment('epack', []), PLACES)['EPACK_MODE'], 'capabilities');
  });

  test('names proxies without their credentials [S4-44]', () => {
    assert.deepEqual(
      proxyVariables({
        HTTP_PROXY: 'http://u:p@proxy.test:8080/',
        https_proxy: 'u:p@proxy.test',
        NO_PROXY: 'localhost',
        HTTPS_PROXY: 'http://plain.test',
        ALL_PROXY: 'socks://u:p@x',
        no_proxy: '',
      }),
      {
        HTTP_PROXY: 'http://proxy.test:8080/',
        HTTPS_PROXY: 'http://plain.test',
        NO_PROXY: 'localhost',
        https_proxy: 'proxy.test',
      },
    );
  });

  test('leaves long inputs to the file [S4-44]', () => {
    const long = runEnvironment(
      environment('neutral', []),
      { ...FACTS, inputs: 'x'.repeat(32_769), inputsPath: '/i' },
      PLACES,
    );
    assert.deepEqual([long['TOOL_INPUTS'], long['TOOL_INPUTS_FILE']], [undefined, '/i']);
    assert.equal(runEnvironment(environment('neutral', []), { ...FACTS, inputs: '{}' }, PLACES)['TOOL_INPUTS'], '{}');
  });
});
