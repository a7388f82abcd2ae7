/** Who is at the other end of the Unix socket: only the user of the host, unless there is a token. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { openHost, type TestHost, TOKENS } from '../open-host.ts';

const run = promisify(execFile);

/** What a process gets for these words, as itself or as a user of another id. */
async function say(host: TestHost, words: string, as: 'owner' | 'stranger'): Promise<string> {
  const script = `
    const socket = require('node:net').connect(process.argv[1]);
    socket.on('error', (error) => console.log(error.code));
    socket.on('data', (chunk) => { console.log(String(chunk)); socket.destroy(); });
    socket.write(${JSON.stringify(words)});
  `;
  const command = [process.execPath, '-e', script, host.socket];
  const strange = ['setpriv', '--reuid', '12345', '--regid', '12345', '--clear-groups', ...command];
  const [program = '', ...rest] = as === 'owner' ? command : strange;
  return (await run(program, rest)).stdout;
}

const request = (token?: string): string =>
  `GET /v1/status HTTP/1.1\r\nHost: localhost\r\n${token === undefined ? '' : `Authorization: Bearer ${token}\r\n`}\r\n`;

describe('the Unix socket', () => {
  test('is closed to others by its mode', async () => {
    await using host = await openHost();
    assert.equal(statSync(host.socket).mode & 0o777, 0o600);
    assert.match(await say(host, '\n', 'owner'), /"type":"SessionAck"/);
    assert.match(await say(host, '\n', 'stranger'), /^EACCES/);
  });

  test('asks the kernel who is there, should its mode ever be opened', async () => {
    await using host = await openHost();
    chmodSync(host.socket, 0o666);
    chmodSync(dirname(host.socket), 0o755);
    assert.match(await say(host, '\n', 'owner'), /"type":"SessionAck"/);
    assert.match(await say(host, '\n', 'stranger'), /"type":"ErrorMessage".*"token_missing"/);
    assert.match(await say(host, request(), 'owner'), /^HTTP\/1\.1 200/);
    assert.match(await say(host, request(), 'stranger'), /^HTTP\/1\.1 401/);
    assert.match(await say(host, request(TOKENS.reader), 'stranger'), /^HTTP\/1\.1 200/);
    assert.equal(host.host.status().sessions, 1);
  });
});
