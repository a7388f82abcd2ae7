import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { claimState, readHostFile } from './host-file.ts';

const START = Date.UTC(2030, 0, 1);
const options = { version: '1.2.3', now: () => START };

function scratch() {
  const folder = mkdtempSync(join(tmpdir(), 'tool-runtime-host-'));
  return { state: join(folder, 'state'), [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A host in another process; it runs until it is killed. */
async function hostElsewhere(state: string) {
  const script = `import { claimState } from ${JSON.stringify(join(import.meta.dirname, 'host-file.ts'))};
    globalThis.claim = claimState(process.argv[1], { version: '1', now: Date.now });
    globalThis.claim.publish({ http: 'http://127.0.0.1:7777' });
    console.log('claimed');
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['-C', 'tool-runtime-source', '--input-type=module', '-e', script, state], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const kill = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { pid: child.pid, kill };
}

describe('claimState', () => {
  test('publishes where the host is, privately, until it is released', () => {
    using place = scratch();
    const claim = claimState(place.state, options);
    assert.equal(readHostFile(place.state), undefined);
    claim.publish({ http: 'http://127.0.0.1:7777', tokenFile: '/state/host.token' });
    assert.equal(statSync(join(place.state, 'host.json')).mode & 0o777, 0o600);
    const { birth, ...record } = JSON.parse(readFileSync(join(place.state, 'host.json'), 'utf8'));
    assert.deepEqual(record, {
      pid: process.pid,
      http: 'http://127.0.0.1:7777',
      token_file: '/state/host.token',
      version: '1.2.3',
      started_at: '2030-01-01T00:00:00.000Z',
    });
    claim.publish({ socket: '/run/h.sock' });
    assert.deepEqual(readHostFile(place.state), {
      pid: process.pid,
      birth,
      socket: '/run/h.sock',
      version: '1.2.3',
      startedAt: START,
      isRunning: true,
    });
    claim.release();
    assert.equal(readHostFile(place.state), undefined);
    assert.deepEqual(readdirSync(place.state), ['host.lock']);
    claimState(place.state, options).release();
  });

  test('refuses a second host in this process, also before the first has published', () => {
    using place = scratch();
    const claim = claimState(place.state, options);
    assert.throws(() => claimState(place.state, options), {
      code: 'E_POLICY',
      message: `A host runs on this state folder already: ${place.state}`,
    });
    claim.release();
    claimState(place.state, options).release();
  });

  test('refuses while a host of another process runs and names it; a killed one is no obstacle', async () => {
    using place = scratch();
    const other = await hostElsewhere(place.state);
    assert.throws(() => claimState(place.state, options), {
      message: `A host runs on this state folder already as process ${other.pid}: ${place.state}`,
      details: {
        gate: 'host',
        reason: 'already_running',
        pid: other.pid,
        address: 'http://127.0.0.1:7777',
        next: 'use it, end it with: tool-runtime stop, or name another folder with --state',
      },
    });
    assert.equal(readHostFile(place.state)?.isRunning, true);
    await other.kill();
    assert.deepEqual([readHostFile(place.state)?.isRunning, readHostFile(place.state)?.pid], [false, other.pid]);
    const claim = claimState(place.state, options);
    claim.publish({});
    assert.equal(readHostFile(place.state)?.pid, process.pid);
    claim.release();
  });

  test('does not remove a file of another host', () => {
    using place = scratch();
    const claim = claimState(place.state, options);
    claim.publish({});
    const path = join(place.state, 'host.json');
    const foreign = { ...JSON.parse(readFileSync(path, 'utf8')), birth: 'linux:other:1:2' };
    writeFileSync(path, JSON.stringify(foreign));
    claim.release();
    assert.equal(readHostFile(place.state)?.birth, 'linux:other:1:2');
  });
});

describe('readHostFile', () => {
  test('finds nothing in a damaged or foreign file, and refuses one that is open to others', () => {
    using place = scratch();
    assert.equal(readHostFile(place.state), undefined);
    const claim = claimState(place.state, options);
    claim.publish({});
    const path = join(place.state, 'host.json');
    const good = readFileSync(path, 'utf8');
    for (const text of ['', '{', 'null', '[]', '{"pid":1}', good.replace(/"pid": \d+/, '"pid": -1')]) {
      writeFileSync(path, text);
      assert.equal(readHostFile(place.state), undefined, text);
    }
    writeFileSync(path, good);
    chmodSync(path, 0o644);
    assert.throws(() => readHostFile(place.state), { code: 'E_POLICY', message: /open to other users/ });
    chmodSync(path, 0o600);
    assert.equal(readHostFile(place.state)?.pid, process.pid);
    claim.release();
  });

  test('takes a reused process number for a host that has ended', () => {
    using place = scratch();
    const claim = claimState(place.state, options);
    claim.publish({});
    const path = join(place.state, 'host.json');
    const record = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...record, birth: record.birth.replace(/\d+$/, '1') }));
    assert.equal(readHostFile(place.state)?.isRunning, false);
    writeFileSync(path, JSON.stringify(record));
    assert.equal(readHostFile(place.state)?.isRunning, true);
    claim.release();
  });
});
