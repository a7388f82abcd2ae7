/** Every place where a call can wait for a program or a server. */

import type { StageName } from '../src/call/state/call-time.ts';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';
import { openExternalScene } from './external-scene.ts';
import { createRepository, openGitRuntime } from './git-repository.ts';
import { startRaw } from './loopback-server.ts';
import {
  type Call,
  drivePlaces,
  isRunning,
  Stall,
  seen,
  uniqueSleep,
  until,
  type WaitingPlace,
  WRITE,
  wrapped,
} from './waiting-places.ts';

// In CI a tool without an entry in the lock is refused before it waits.
delete process.env['CI'];

const PROGRAMS_MS = 4_000;

/** A place where a program sleeps; `sleep` is its length. */
function sleeping(
  stage: StageName,
  name: string,
  scene: (sleep: string) => { readonly registryText: string; readonly victim: Call; readonly following?: Call },
): WaitingPlace {
  return {
    stage,
    name,
    limitMs: PROGRAMS_MS,
    async open() {
      const sleep = uniqueSleep();
      const repository = createRepository({ files: { 'a.txt': 'old' } });
      repository.write({ 'a.txt': 'staged' });
      repository.git('add', 'a.txt');
      const { registryText, victim, following = ['git_add', { paths: ['a.txt'] }] } = scene(sleep);
      const opened = await openGitRuntime(repository, { registry: `version: 1\n${registryText}` });
      return {
        runtime: opened.runtime,
        session: opened.session,
        victim,
        following,
        process: sleep,
        reached: seen(sleep),
        release: () => {},
        dispose: () => opened.dispose().then(repository.dispose),
      };
    },
  };
}

const COMMIT: Call = ['git_commit', { message: 'feat: change' }];
const gated = (step: string) => (sleep: string) => ({
  registryText: `validators: [{ rule: ${step}.must.pass }]\ncommands: { ${step}: sleep ${sleep} }\n`,
  victim: COMMIT,
});
const SHELL = "shell_allow: ['^sleep [0-9]+$', '^true$']\n";

const PROGRAMS: readonly WaitingPlace[] = [
  sleeping('commitGate', 'the build of the commit gate never ends', gated('build')),
  sleeping('commitGate', 'the linter of the commit gate never ends', gated('lint')),
  sleeping('tool', 'a build on request never ends', (sleep) => ({
    ...gated('build')(sleep),
    victim: ['validate', { scope: 'staged' }],
  })),
  sleeping('tool', 'a command never ends', (sleep) => ({
    registryText: SHELL,
    victim: ['shell_exec', { cmd: `sleep ${sleep}` }],
    following: ['shell_exec', { cmd: 'true' }],
  })),
  sleeping('tool', 'a command never ends that may become a job later', (sleep) => ({
    registryText: SHELL,
    victim: ['shell_exec', { cmd: `sleep ${sleep}`, yield_after_ms: 3_600_000 }],
    following: ['shell_exec', { cmd: 'true' }],
  })),
  {
    stage: 'tool',
    name: 'all places of commands are taken',
    waitedFor: 'commands',
    limitMs: PROGRAMS_MS,
    async open() {
      const sleep = uniqueSleep();
      const registry = { file: 'ops.yaml', text: `version: 1\n${SHELL}limits: { max_commands: 1 }\n` };
      const { runtime, session, dispose } = await openScratchRuntime({ registry });
      const other = await runtime.openSession();
      const stop = new AbortController();
      const holding = other.call('shell_exec', { cmd: `sleep ${sleep}` }, { signal: stop.signal });
      await until(() => isRunning(sleep));
      const victim: Call = ['shell_exec', { cmd: 'true' }];
      const release = () => stop.abort();
      const end = () => holding.then(dispose);
      return { runtime, session, victim, following: victim, reached: Promise.resolve(), release, dispose: end };
    },
  },
  {
    stage: 'tool',
    name: 'a job does not read its input',
    limitMs: PROGRAMS_MS,
    async open() {
      const sleep = uniqueSleep();
      const registry = { file: 'ops.yaml', text: `version: 1\n${SHELL}` };
      const { runtime, session, dispose } = await openScratchRuntime({ registry });
      const { data } = await session.call('shell_exec', { cmd: `sleep ${sleep}`, yield_after_ms: 0 });
      const { job } = data as { job: string };
      const victim: Call = ['job_input', { job, text: 'x'.repeat(4_000_000) }];
      const following: Call = ['job_stop', { job }];
      const release = () => {};
      return { runtime, session, victim, following, process: sleep, reached: Promise.resolve(), release, dispose };
    },
  },
  {
    stage: 'tool',
    name: 'a web server never answers',
    async open(t) {
      const asked = Promise.withResolvers<void>();
      const { port } = await startRaw(t, () => asked.resolve());
      const registryText = `network: { allowed_domains: ['127.0.0.1:${port}'] }\nside_effect_level: network\n`;
      const registry = { file: 'ops.yaml', text: `version: 1\n${registryText}` };
      const { runtime, session, dispose } = await openScratchRuntime({ registry });
      const victim: Call = ['curl', { url: `http://127.0.0.1:${port}/`, method: 'POST', body: 'x' }];
      const { promise: reached } = asked;
      return { runtime, session, victim, following: WRITE, reached, release: () => {}, dispose };
    },
  },
  {
    stage: 'tool',
    name: 'a git server never answers',
    limitMs: PROGRAMS_MS,
    async open(t) {
      const asked = Promise.withResolvers<void>();
      const { port } = await startRaw(t, () => asked.resolve());
      const repository = createRepository({ files: { 'a.txt': 'old' } });
      const url = `http://127.0.0.1:${port}/${uniqueSleep()}.git`;
      repository.git('remote', 'add', 'origin', url);
      const registry = `version: 1\nnetwork: { allowed_domains: ['127.0.0.1:${port}'] }\n`;
      const { runtime, session, dispose } = await openGitRuntime(repository, { registry });
      return {
        runtime,
        session,
        victim: ['git_fetch', { remote: 'origin' }],
        following: ['git_add', { paths: ['a.txt'] }],
        process: url,
        reached: asked.promise,
        release: () => {},
        dispose: () => dispose().then(repository.dispose),
      };
    },
  },
  {
    stage: 'tool',
    name: 'an external tool never says what it can do',
    limitMs: PROGRAMS_MS,
    async open() {
      const sleep = uniqueSleep();
      const scene = await openExternalScene({
        tools: ['name: mute, command: mute.sh, requires_pack: false, allow_unpinned: true'],
        files: { 'mute.sh': `#!/bin/sh\nexec sleep ${sleep}\n` },
        lock: 'nothing',
      });
      const { runtime, session, dispose } = scene;
      const reached = seen(sleep);
      return {
        runtime,
        session,
        victim: ['mute', {}],
        following: WRITE,
        process: sleep,
        reached,
        release: () => {},
        dispose,
      };
    },
  },
  {
    stage: 'cleanUp',
    name: 'the frozen index is never removed',
    limitMs: PROGRAMS_MS,
    async open() {
      const stall = new Stall();
      const repository = createRepository({ files: { 'a.txt': 'old' } });
      repository.write({ 'a.txt': 'staged' });
      repository.git('add', 'a.txt');
      const { runtime, session, dispose } = await openGitRuntime(repository, {
        ...wrapped(({ createPrograms }) => ({
          createPrograms(registry, about) {
            const programs = createPrograms(registry, about);
            const { git } = programs;
            const files = {
              ...git.files,
              async remove(name: string) {
                await stall.pass();
                await git.files.remove(name);
              },
            };
            return { ...programs, git: { ...git, files } };
          },
        })),
      });
      return {
        runtime,
        session,
        // Signed off by git itself, which has to be shown the frozen index as a file.
        victim: ['git_commit', { message: 'feat: wait', signoff: true }],
        following: ['git_add', { paths: ['a.txt'] }],
        reached: stall.reached,
        release: () => stall.release(),
        dispose: () => dispose().then(repository.dispose),
      };
    },
  },
];

drivePlaces(PROGRAMS);
