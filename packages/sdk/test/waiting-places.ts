/**
 * Every place where a call can wait, each as a runtime in which one call gets stuck there.
 *
 * Nothing here ends by itself: hooks never settle, programs sleep, servers never answer.
 */
import { readdirSync, readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import type { StageName } from '../src/call/call-time.ts';
import type { JournalRecord } from '../src/contracts/journal.ts';
import { defineRule, type RuleDefinition } from '../src/contracts/rule.ts';
import { defineTool } from '../src/contracts/tool.ts';
import { allowAllPolicy } from '../src/policy/allow-all-policy.ts';
import type { RuntimeOptions } from '../src/runtime.ts';
import type { RuntimeParts } from '../src/session/compile-session.ts';
import type { CallOptions, Session } from '../src/session/session.ts';
import { createCounter } from '../src/testing/probe-tools.ts';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';
import { openExternalScene } from './external-scene.ts';
import { createRepository, openGitRuntime } from './git-repository.ts';
import { startRaw } from './loopback-server.ts';

export interface WaitingPlace {
  readonly stage: StageName;
  readonly name: string;
  /** The code of the answer at the deadline; E_TIMEOUT unless said. */
  readonly code?: string;
  /** Enough on an idle machine to get there; doubled until it is. */
  readonly limitMs?: number;
  open(t: TestContext): Promise<Stuck>;
}

type Call = readonly [tool: string, args: object, options?: CallOptions];

export interface Stuck {
  readonly runtime: ScratchRuntime['runtime'];
  readonly session: Session;
  /** Where a read must be answered meanwhile; the same session unless said. */
  readonly reader?: Session;
  readonly victim: Call;
  /** Resolves when the call waits at the place. */
  readonly reached: Promise<unknown>;
  /** Must succeed afterwards. */
  readonly following: Call;
  /** A word of the command line of processes that must be gone afterwards. */
  readonly process?: string;
  /** Lets go of whatever was held; also for calls that come later. */
  release(): void;
  dispose(): Promise<unknown>;
}

const VICTIM = 'file_write';
const WRITE: Call = [VICTIM, { path: 'a.txt', content: 'new' }];

/** Holds up whoever comes by, until it is released. */
class Stall {
  readonly #reached = Promise.withResolvers<void>();
  readonly #released = Promise.withResolvers<void>();
  #isOpen = false;
  readonly reached = this.#reached.promise;

  async pass(): Promise<void> {
    if (this.#isOpen) return;
    this.#reached.resolve();
    await this.#released.promise;
  }

  release(): void {
    this.#isOpen = true;
    this.#released.resolve();
  }
}

type Setting = Partial<RuntimeOptions> & {
  readonly registryText?: string;
  readonly victim?: Call;
  readonly following?: Call;
};

/** A place inside this process: `setting` wires the stall into one of the runtime's ports. */
function inside(
  stage: StageName,
  name: string,
  setting: (stall: Stall) => Setting,
  more: Pick<WaitingPlace, 'code'> = {},
): WaitingPlace {
  return {
    stage,
    name,
    ...more,
    async open() {
      const stall = new Stall();
      const { registryText = '', victim = WRITE, following = WRITE, ...options } = setting(stall);
      const registry = { file: 'ops.yaml', text: `version: 1\n${registryText}` };
      const { runtime, session, dispose } = await openScratchRuntime({ ...options, registry });
      const { reached } = stall;
      return { runtime, session, victim, following, reached, release: () => stall.release(), dispose };
    },
  };
}

const wrapped = (wrap: (parts: RuntimeParts) => Partial<RuntimeParts>): Pick<Setting, 'ports'> => ({
  ports: { wrapParts: (parts) => ({ ...parts, ...wrap(parts) }) },
});

/** The same object with some methods replaced. */
function overriding<T extends object>(inner: T, methods: Partial<T>): T {
  return new Proxy(inner, {
    get(target, key) {
      const own: unknown = Reflect.get(methods, key) ?? Reflect.get(target, key);
      return typeof own === 'function' ? own.bind(target) : own;
    },
  });
}

/** Holds up records of the victim that `isMeant` picks. */
const slowJournal = (stall: Stall, isMeant: (record: JournalRecord) => boolean): Setting =>
  wrapped(({ journal }) => ({
    journal: overriding(journal, {
      async append(records) {
        if (records.some(isMeant)) await stall.pass();
        await journal.append(records);
      },
    }),
  }));

const ofVictim = (record: JournalRecord): boolean => 'tool' in record && record.tool === VICTIM;

const rule = (phase: RuleDefinition['phase'], check: () => Promise<void> | void): RuleDefinition =>
  defineRule({
    id: 'test.stalls',
    category: 'Test',
    description: 'Never says anything',
    phase,
    trigger: 'always',
    defaultEnforcement: 'blocking',
    appliesTo: ({ tool }) => tool === VICTIM,
    async check() {
      await check();
      return [];
    },
  });

const IN_FORCE = 'validators: [{ rule: test.stalls }]\n';
const ASKING = 'approvals: { require_approval: [file_write] }\n';

const stubborn = (stall: Stall) =>
  defineTool({
    ...createCounter('probe_stubborn').tool,
    args: z.strictObject({ path: z.string() }),
    annotations: { kind: 'edit', side_effect_level: 'workspace_write', arg_schema: { path_params: ['path'] } },
    run: async () => {
      await stall.pass();
      return {};
    },
  });

/** Undoing goes through the workspace like the write itself, which is let through. */
function slowUndo(stall: Stall): Setting {
  let writes = 0;
  const isFirst = (): boolean => writes++ === 0;
  return {
    registryText: IN_FORCE,
    rules: [
      {
        ...rule('after', () => {}),
        check: () => (writes > 1 ? [] : [{ message: 'refused' }]),
      },
    ],
    ...wrapped(({ workspace }) => ({
      workspace: overriding(workspace, {
        async remove(path, options) {
          await stall.pass();
          return workspace.remove(path, options);
        },
        async writeFile(path, bytes, options) {
          isFirst();
          return workspace.writeFile(path, bytes, options);
        },
      }),
    })),
  };
}

const INSIDE: readonly WaitingPlace[] = [
  {
    stage: 'turn',
    name: 'all places of the session are taken',
    async open() {
      const stall = new Stall();
      const registry = { file: 'ops.yaml', text: 'version: 1\nlimits: { max_in_flight: 1 }\n' };
      const { runtime, session, dispose } = await openScratchRuntime({ registry, tools: [stubborn(stall)] });
      const holding = session.call('probe_stubborn', { path: 'other.txt' });
      await stall.reached;
      // The victim is stuck from the first moment on.
      const reached = Promise.resolve();
      const reader = await runtime.openSession();
      const release = () => stall.release();
      const end = () => holding.then(dispose);
      return { runtime, session, reader, victim: WRITE, following: WRITE, reached, release, dispose: end };
    },
  },
  inside('hooks', 'a hook before the call never settles', (stall) => ({
    hooks: [
      {
        id: 'slow',
        tools: VICTIM,
        async before() {
          await stall.pass();
          return { type: 'allow' };
        },
      },
    ],
  })),
  inside('gates', 'a rule before the call never answers', (stall) => ({
    registryText: IN_FORCE,
    rules: [rule('before', () => stall.pass())],
  })),
  inside('gates', 'the policy never answers', (stall) => ({
    policy: {
      ...allowAllPolicy(),
      async evaluatePreTool(call) {
        if (call.tool === VICTIM) await stall.pass();
        return allowAllPolicy().evaluatePreTool(call);
      },
    },
  })),
  inside('gates', 'the coordinator never answers', (stall) => ({
    registryText: 'coordinator: { required: [policy], timeout_ms: 60000 }\n',
    coordinator: {
      async evaluate({ tool }) {
        if (tool === VICTIM) await stall.pass();
        return { verdict: 'allow', reason: 'fine' };
      },
    },
  })),
  inside(
    'approval',
    'the approver never answers',
    (stall) => ({
      registryText: `${ASKING}limits: { approval_timeout_ms: 50 }\n`,
      approvals: {
        async ask() {
          await stall.pass();
          return { answer: 'approved', by: 'ada' };
        },
      },
    }),
    { code: 'E_POLICY' },
  ),
  inside('approval', 'the question cannot be put on record', (stall) => ({
    registryText: `${ASKING}limits: { approval_timeout_ms: 50 }\n`,
    approvals: { ask: async () => ({ answer: 'approved', by: 'ada' }) },
    ...slowJournal(stall, (record) => record.kind === 'approval'),
  })),
  inside('budget', 'the budget never answers', (stall) => ({
    budget: {
      async reserve({ tool }) {
        if (tool === VICTIM) await stall.pass();
      },
      spend() {},
    },
  })),
  inside('key', 'the journal never finds the key', (stall) => ({
    victim: [VICTIM, { path: 'a.txt', content: 'new' }, { idempotencyKey: 'once' }],
    ...wrapped(({ journal }) => ({
      journal: overriding(journal, {
        async lookup(scope, key, hash) {
          await stall.pass();
          return journal.lookup(scope, key, hash);
        },
      }),
    })),
  })),
  {
    stage: 'locks',
    name: 'another call holds the file',
    async open() {
      const stall = new Stall();
      const { runtime, session, dispose } = await openScratchRuntime({
        registry: { file: 'ops.yaml', text: 'version: 1\nlimits: { lock_wait_ms: 600000 }\n' },
        tools: [stubborn(stall)],
      });
      const holding = session.call('probe_stubborn', { path: 'a.txt' });
      await stall.reached;
      const reached = Promise.resolve();
      const release = () => stall.release();
      return {
        runtime,
        session,
        victim: WRITE,
        following: WRITE,
        reached,
        release,
        dispose: () => holding.then(dispose),
      };
    },
  },
  inside('intent', 'the journal never takes the intent', (stall) =>
    slowJournal(stall, (record) => record.kind === 'intent' && ofVictim(record)),
  ),
  inside('tool', 'the tool ignores its signal', (stall) => ({
    tools: [stubborn(stall)],
    victim: ['probe_stubborn', { path: 'a.txt' }],
  })),
  inside('index', 'the code index never follows', (stall) => ({
    ast: { covers: () => true, refresh: () => stall.pass(), parseProblems: () => [] },
  })),
  inside('afterRules', 'a rule after the change never answers', (stall) => ({
    registryText: IN_FORCE,
    rules: [rule('after', () => stall.pass())],
  })),
  inside('undo', 'a refused change is never taken back', slowUndo, { code: 'E_VALIDATION_FAIL' }),
  inside(
    'record',
    'the journal never takes the result',
    (stall) => slowJournal(stall, (record) => record.kind === 'result' && ofVictim(record)),
    { code: 'E_INTERNAL' },
  ),
  inside(
    'record',
    'the journal never takes a refusal',
    (stall) => ({
      victim: [VICTIM, { path: 'a.txt', content: 7 }],
      ...slowJournal(stall, (record) => record.kind === 'decision' && record.outcome === 'deny'),
    }),
    { code: 'E_VALIDATION_FAIL' },
  ),
  inside('output', 'a hook after the call never settles', (stall) => ({
    hooks: [
      {
        id: 'slow',
        tools: VICTIM,
        async after() {
          await stall.pass();
          return { type: 'pass' };
        },
      },
    ],
  })),
  inside('output', 'the policy never judges the answer', (stall) => ({
    policy: {
      ...allowAllPolicy(),
      async evaluatePostTool(call, data) {
        if (call.tool === VICTIM) await stall.pass();
        return allowAllPolicy().evaluatePostTool(call, data);
      },
    },
  })),
];

/** Sleeps of no other process on this machine. */
let sleeps = 0;
const uniqueSleep = (): string => `${100_000_000 + process.pid * 100 + ++sleeps}`;

/** Whether a process with this word runs. */
export function isRunning(word: string): boolean {
  return readdirSync('/proc').some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(word);
    } catch {
      return false; // It has just ended.
    }
  });
}

export async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await pause(20);
}

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
        reached: until(() => isRunning(sleep)),
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
      const reached = until(() => isRunning(sleep));
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
        victim: COMMIT,
        following: ['git_add', { paths: ['a.txt'] }],
        reached: stall.reached,
        release: () => stall.release(),
        dispose: () => dispose().then(repository.dispose),
      };
    },
  },
];

export const WAITING_PLACES: readonly WaitingPlace[] = [...INSIDE, ...PROGRAMS];
