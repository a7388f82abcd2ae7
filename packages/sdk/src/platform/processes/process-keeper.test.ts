import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { processesWith } from '../../../test/processes-with.ts';
import { createSpawner } from './spawner.ts';

/** Starts a program in a host of its own; answers that host when the program runs, or is stopped at once. */
async function startInHost(
  backend: string,
  { program, args, stopped = false }: { program: string; args: readonly string[]; stopped?: boolean },
) {
  const script = `
    const { createSpawner } = await import(${JSON.stringify(new URL('./spawner.ts', import.meta.url))});
    const started = await createSpawner({ backend: ${JSON.stringify(backend)} }).spawn({
      program: ${JSON.stringify(program)}, args: ${JSON.stringify(args)}, env: { PATH: '/usr/bin:/bin' }, cwd: '/',
      stdin: 'null', stdout: 'null', stderr: 'null',
    });
    if (${stopped}) process.kill(started.pid, 'SIGSTOP');
    console.log(started.pid);
    setInterval(() => {}, 1000);
  `;
  const words = ['-C', 'tool-runtime-source', '--input-type=module', '-e', script];
  const host = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [said] = await once(host.stdout, 'data');
  return { host, pid: Number(String(said)) };
}

/** Each with a text that is unique on this machine. */
const WAYS = {
  'a program': (text: string) => ({ program: '/bin/sleep', args: [text] }),
  'one that left its session': (text: string) => ({
    program: '/bin/sh',
    args: ['-c', `setsid sleep ${text} & setsid sleep ${text} & wait`],
  }),
  'one that closed what it inherited': (text: string) => ({
    program: '/bin/sh',
    args: ['-c', `exec 3<&-; sleep ${text} & wait`],
  }),
  'a sandbox that was only being set up': (text: string) => ({
    program: '/usr/bin/bwrap',
    args: [
      ...['--unshare-all', '--die-with-parent', '--new-session', '--ro-bind', '/', '/', '--sync-fd', '3'],
      ...['--', 'sleep', text],
    ],
    stopped: true,
  }),
};

for (const backend of ['native', 'node']) {
  for (const [what, way] of Object.entries(WAYS)) {
    test(`${what} ends when its host is killed (${backend})`, async () => {
      const text = `4000.${process.pid}${Math.floor(performance.now() * 1000)}`;
      const { host, pid } = await startInHost(backend, way(text));
      while (processesWith(text).length === 0) await wait(5);
      host.kill('SIGKILL');
      await once(host, 'exit');
      // As if the machine had been too busy until now to let it run.
      if (processesWith(text).includes(pid)) process.kill(pid, 'SIGCONT');
      while (processesWith(text).length > 0) await wait(10);
    });
  }
}

test('processes of a host that lives stay, also when their watcher is killed, which is replaced', async (t) => {
  const spawner = createSpawner();
  const quiet = { env: {}, cwd: '/', stdin: 'null', stdout: 'null', stderr: 'null' } as const;
  const text = `5000.${process.pid}`;
  const start = async () => {
    const started = await spawner.spawn({ ...quiet, program: '/bin/sleep', args: [text] });
    t.after(() => started.kill('SIGKILL'));
    return started;
  };
  // Spawners of other test files in this process have watchers too, some of them for a few more seconds.
  const all = () => processesWith(`case $pid in $$ | "$host")`).filter((pid) => isChild(pid));
  const others = new Set(all());
  const watchers = () => all().filter((pid) => !others.has(pid));
  const first = await start();
  const [watcher = assert.fail('there is no watcher')] = watchers();
  process.kill(watcher, 'SIGKILL');
  while (watchers().includes(watcher)) await wait(5);
  await wait(300);
  const second = await start();
  // A process has its own command line only once it runs its program.
  while (!processesWith(text).includes(second.pid)) await wait(5);
  assert.deepEqual([...processesWith(text)].sort(), [first.pid, second.pid].sort());
  assert.equal(watchers().length, 1);
  for (const one of [first, second]) one.kill('SIGKILL');
  await Promise.all([first.exited, second.exited]);
});

function isChild(pid: number): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]) === process.pid;
  } catch {
    // It ended meanwhile.
    return false;
  }
}
