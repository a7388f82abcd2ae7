import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hostKeys, knownHostLines, readSshConfig } from './ssh-hosts.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFeoPYBwIE5Bzu1dsxd7RyRGFHRNBzCzRJU2bOhTbzPZ';

test('of an ssh configuration the first value of a plain Host block counts, and Match blocks never [S0-51]', () => {
  const text = [
    'User first',
    'Host work !work-old *.example.org',
    '  HostName = git.example.org',
    '  User me',
    '  Port 2222',
    '  IdentityFile "~/.ssh/a b"',
    '  ProxyCommand touch canary',
    'Match exec "touch canary"',
    '  HostName evil.example.org',
    'Host *',
    '  IdentityFile ~/.ssh/c',
    '  Port 22',
  ].join('\n');
  assert.deepEqual(readSshConfig(text, 'work'), {
    hostName: 'git.example.org',
    user: 'first',
    port: '2222',
    identityFiles: ['~/.ssh/a b', '~/.ssh/c'],
  });
  assert.deepEqual(readSshConfig(text, 'work-old'), { user: 'first', port: '22', identityFiles: ['~/.ssh/c'] });
});

test('of known hosts only the lines about one host are taken, hashed ones too, as ssh-keygen -F finds them [S0-51]', () => {
  const folder = mkdtempSync(join(tmpdir(), 'known-hosts-'));
  try {
    const file = join(folder, 'known_hosts');
    writeFileSync(file, `host.test ${KEY}\n[host.test]:2222 ${KEY}\nother.test ${KEY}\n`);
    execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'ignore' });
    const text = `${readFileSync(file, 'utf8')}*.wild.test,!no.wild.test ${KEY}\n@revoked host.test ${KEY}\n# host.test\n`;
    const count = (name: string, port = '22') => knownHostLines(text, { name, port }).length;
    assert.deepEqual([count('host.test'), count('host.test', '2222'), count('HOST.test')], [2, 1, 2]);
    assert.deepEqual([count('a.wild.test'), count('no.wild.test'), count('host')], [1, 0, 0]);
    assert.equal(hostKeys(knownHostLines(text, { name: 'host.test', port: '22' })).length, 1, 'a revoked key is none');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
