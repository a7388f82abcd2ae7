import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createCommandRunner } from '../commands/command-runner.ts';

function openScene(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'caches-')));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const state = join(root, 'state');
  mkdirSync(state, { mode: 0o700 });
  writeFileSync(join(state, 'host.token'), 'CANARY');
  /** What a shell script printed, in a session of its own. */
  const run = async (script: string, { workspace = 'one', caches = ['npm', 'go'], writable = true } = {}) => {
    mkdirSync(join(root, workspace), { recursive: true });
    const options = { workspace: join(root, workspace), state, isolation: 'bubblewrap', allowedDomains: [] } as const;
    const runner = createCommandRunner({ ...options, caches, writable });
    try {
      const list = { pipelines: [{ operator: null, commands: [{ argv: ['sh', '-c', script], column: 1 }] }] };
      const request = { list, cwd: '.', env: {}, stdin: null, network: false, maxOutputBytes: 10_000 };
      return (await (await runner.start(request)).done).stdout.text;
    } finally {
      await runner.close();
    }
  };
  return { root, state, run };
}

test('caches last from one session to the next, for their workspace alone [S0-36]', async (t) => {
  const { run } = openScene(t);
  assert.equal(await run('echo kept > $npm_config_cache/x; mkdir -p $GOCACHE && cat $npm_config_cache/x'), 'kept\n');
  assert.equal(await run('cat $npm_config_cache/x; ls -d $GOCACHE'), 'kept\n/var/cache/packages/go/build\n');
  assert.equal(await run('cat $npm_config_cache/x', { workspace: 'two' }), '');
});

test('a registry chooses which, and who may not write has none [S0-36]', async (t) => {
  const { run } = openScene(t);
  const names = 'env | grep -c -e ^npm_config_cache= -e ^GOCACHE= -e ^CARGO_HOME=';
  assert.equal(await run(names), '2\n');
  assert.equal(await run(names, { caches: ['cargo'] }), '1\n');
  assert.equal(await run(`${names}; ls /var/cache`, { caches: [] }), '0\n');
  assert.equal(await run(`${names}; ls /var/cache`, { writable: false }), '0\n');
});

test('nothing else of the state folder can be reached through a cache [S0-36 S0-39]', async (t) => {
  const { state, run } = openScene(t);
  const place = '/var/cache/packages';
  const attempts = [
    `ls -A ${place}/.. ${place}/npm`,
    `cat ${place}/../host.token ${place}/../../host.token ${state}/host.token 2>/dev/null`,
    `ln -s ${state} ${place}/npm/out; cat ${place}/npm/out/host.token 2>/dev/null`,
    `rm -rf ${place} 2>/dev/null; mv ${place} /tmp/x 2>/dev/null; echo here`,
  ];
  const printed = await run(attempts.join('\n'));
  assert.equal(printed, `${place}/..:\npackages\n\n${place}/npm:\nhere\n`);
  // The link it left leads nowhere for the next one either.
  assert.equal(
    await run(
      'cat $npm_config_cache/out/host.token 2>/dev/null; echo x > $npm_config_cache/y; cat $npm_config_cache/y',
    ),
    'x\n',
  );
});
