import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, type TestContext, test } from 'node:test';
import { FROM_SOURCE, runCli } from '../../../test/run-cli.ts';

function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'fleet-command-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe('tool-runtime fleet', () => {
  test('a fleet file that is missing or wrong is refused with what to do', async (t) => {
    const folder = scratch(t);
    const missing = await runCli(['fleet', 'status', '--fleet', join(folder, 'none.yaml')]);
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /Fleet file cannot be read: .*none\.yaml/);
    const file = join(folder, 'wrong.yaml');
    writeFileSync(file, 'servers: []\n');
    const wrong = await runCli(['fleet', 'hosts', '--fleet', file]);
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /servers/);
  });

  test('a program that is no server is named, and nothing stays behind (deep)', async (t) => {
    const folder = scratch(t);
    const run = await runCli(['fleet', 'dev', '--workspace', folder, '--server', join(folder, 'no-server')]);
    assert.equal(run.code, 2);
    assert.match(run.stderr, /Server cannot be started: .*no-server/);
  });

  test('dev starts servers and hosts, the printed command works, and Ctrl-C ends all of it (deep)', async (t) => {
    const workspace = scratch(t);
    writeFileSync(join(workspace, 'hello.txt'), 'hello\n');
    const dev = startDev(t, ['--workspace', workspace, '--json']);
    const started = JSON.parse(await dev.firstLine) as Started;
    assert.equal(started.servers.length, 3);
    assert.equal(started.hosts.length, 2);
    const fleet = ['--fleet', started.operator_file, '--json'];
    const call = await runCli([
      ...['fleet', 'call', 'file_read', '{"path":"hello.txt"}', '--workspace', started.workspace],
      ...['--fleet', started.client_file, '--json'],
    ]);
    assert.equal(call.code, 0, call.stderr);
    assert.equal(JSON.parse(call.stdout).data.content, 'hello\n');
    const status = await runCli(['fleet', 'status', ...fleet]);
    assert.equal(status.code, 0, status.stderr + status.stdout);
    const shown = JSON.parse(status.stdout);
    assert.deepEqual(
      shown.servers.map(({ pid }: { pid: number }) => pid),
      started.servers.map(({ pid }) => pid),
    );
    const names = started.servers.map(({ name }) => name);
    for (const { leader } of shown.streams) assert.ok(names.includes(leader), leader);
    const [lease] = JSON.parse((await runCli(['fleet', 'workspaces', ...fleet])).stdout);
    assert.equal(lease.workspace, started.workspace);
    assert.deepEqual(JSON.parse((await runCli(['fleet', 'calls', ...fleet])).stdout), []);
    assert.equal((await runCli(['fleet', 'drain', lease.host, ...fleet])).code, 0);
    const moved = await until(async () => {
      const found = JSON.parse((await runCli(['fleet', 'workspaces', ...fleet])).stdout);
      return found[0]?.host !== undefined && found[0].host !== lease.host ? found[0] : undefined;
    });
    assert.ok(moved.epoch > lease.epoch);
    const audit = await runCli(['audit', 'verify', ...fleet]);
    assert.equal(audit.code, 0, audit.stdout);
    assert.equal(JSON.parse(audit.stdout).ok, true);
    const link = (await runCli(['console', '--state', started.state])).stdout;
    assert.match(link, /http:\/\/127\.0\.0\.1:\d+\/#code=/);
    // Killed for a try: the rest goes on, and says so.
    const [server] = started.servers;
    process.kill(server?.pid ?? 0, 'SIGKILL');
    await dev.saw(`server ${server?.name} has ended`);
    const during = await runCli(['fleet', 'status', ...fleet]);
    assert.equal(during.code, 1, during.stderr);
    assert.equal(JSON.parse(during.stdout).servers.length, 2);
    const holder = started.hosts.find(({ name }) => name === moved.host);
    process.kill(holder?.pid ?? 0, 'SIGKILL');
    await dev.saw(`host ${holder?.name} has ended`);
    assert.equal((await runCli(['fleet', 'drain', lease.host, '--undo', ...fleet])).code, 0);
    const after = await runCli([
      ...['fleet', 'call', 'file_read', '{"path":"hello.txt"}', '--workspace', started.workspace],
      ...['--fleet', started.client_file, '--wait', '60000', '--json'],
    ]);
    assert.equal(after.code, 0, after.stderr);
    // Files of others than operators are no way in, and say so.
    const refused = await runCli(['fleet', 'hosts', '--fleet', started.client_file]);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /User may not ask this of the servers: agent\n.*file of an operator/);
    assert.doesNotMatch(refused.stderr, / {4}at /);
    dev.process.kill('SIGINT');
    assert.equal(await dev.ended, 0);
    for (const { pid } of [...started.servers, ...started.hosts])
      assert.throws(() => process.kill(pid, 0), String(pid));
    assert.equal(existsSync(started.client_file), false);
  });
});

interface Started {
  readonly servers: readonly { readonly name: string; readonly pid: number }[];
  readonly hosts: readonly { readonly name: string; readonly pid: number }[];
  readonly workspace: string;
  readonly client_file: string;
  readonly operator_file: string;
  readonly state: string;
}

async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
  }
}

function startDev(
  t: TestContext,
  args: readonly string[],
): {
  process: ChildProcess;
  firstLine: Promise<string>;
  ended: Promise<number | null>;
  saw(text: string): Promise<void>;
} {
  const child = spawn(process.execPath, [...FROM_SOURCE, 'fleet', 'dev', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const said: string[] = [];
  const stderr = createInterface({ input: child.stderr }).on('line', (line) => said.push(line));
  const saw = async (text: string): Promise<void> => {
    while (!said.some((line) => line.includes(text))) await once(stderr, 'line');
  };
  const firstLine = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    void ended.then(() => reject(new Error(`fleet dev ended:\n${said.join('\n')}`)));
  });
  firstLine.catch(() => undefined);
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  return { process: child, firstLine, ended, saw };
}
