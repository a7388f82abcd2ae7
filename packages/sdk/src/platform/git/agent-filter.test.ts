import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isGitSignature, isLogin, openAgentFilter } from './agent-filter.ts';

const text = (value: string | Buffer): Buffer => {
  const bytes = Buffer.from(value);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([length, bytes]);
};

/** Programs run beside this process, which serves them. */
async function run(program: string, args: readonly string[], socket: string): Promise<number | null> {
  const child = spawn(program, args, { env: { PATH: process.env['PATH'], SSH_AUTH_SOCK: socket }, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

test('a real agent behind the filter lists keys and signs for git; it signs nothing else and loses no key [S0-51]', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'agent-filter-'));
  const agent = join(folder, 'agent');
  const child = spawn('ssh-agent', ['-D', '-a', agent], { stdio: ['ignore', 'pipe', 'ignore'] });
  await once(child.stdout, 'data');
  const socket = join(folder, 'filtered');
  const filter = await openAgentFilter({ socket, agent, maySign: isGitSignature });
  t.after(async () => {
    await filter.close();
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  const key = join(folder, 'key');
  spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  assert.equal(await run('ssh-add', ['-q', key], agent), 0);
  rmSync(key);
  const sign = (namespace: string, at: string) => {
    writeFileSync(join(folder, 'data'), 'text\n');
    rmSync(join(folder, 'data.sig'), { force: true });
    return run('ssh-keygen', ['-Y', 'sign', '-n', namespace, '-U', '-f', `${key}.pub`, join(folder, 'data')], at);
  };
  assert.equal(await run('ssh-add', ['-l'], socket), 0);
  assert.equal(await sign('git', socket), 0);
  assert.equal(await sign('file', agent), 0, 'control: the agent itself signs anything');
  assert.notEqual(await sign('file', socket), 0);
  assert.notEqual(await run('ssh-add', ['-D'], socket), 0);
  assert.notEqual(await run('ssh-add', ['-x'], socket), 0);
  assert.equal(await run('ssh-add', ['-l'], agent), 0, 'the key is still there');
});

test('a login is for one user, and to a host whose key is known where it is named [S0-51]', () => {
  const known = Buffer.from('known key');
  const login = (user: string, method: string, hostKey = known, service = 'ssh-connection') =>
    Buffer.concat([
      text('session'),
      Buffer.from([50]),
      ...[user, service, method].map(text),
      Buffer.from([1]),
      ...['ssh-ed25519', 'key'].map(text),
      ...(method === 'publickey' ? [] : [text(hostKey)]),
    ]);
  const may = (data: Buffer) => isLogin(data, { user: 'git', keys: [known] });
  const bound = 'publickey-hostbound-v00@openssh.com';
  assert.ok(may(login('git', 'publickey')));
  assert.ok(may(login('git', bound)));
  assert.ok(!may(login('root', 'publickey')));
  assert.ok(!may(login('git', bound, Buffer.from('other key'))));
  assert.ok(!may(login('git', 'publickey', known, 'other')));
  assert.ok(!may(login('git', 'hostbased')));
  for (const data of [Buffer.alloc(0), Buffer.from('SSHSIG'), text('session'), login('git', bound).subarray(0, 60)]) {
    assert.ok(!may(data));
  }
  assert.ok(isGitSignature(Buffer.concat([Buffer.from('SSHSIG'), text('git')])));
  assert.ok(!isGitSignature(Buffer.concat([Buffer.from('SSHSIG'), text('file')])));
});
