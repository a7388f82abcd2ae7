/** Every place inside this process where a call can wait: hooks, ports, locks, the journal, rules, a stubborn tool. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { z } from 'zod';
import { STAGES, type StageName } from '../src/call/state/call-time.ts';
import type { JournalRecord } from '../src/contracts/journal.ts';
import { defineRule, type RuleDefinition } from '../src/contracts/rule.ts';
import { defineTool } from '../src/contracts/tool.ts';
import { allowAllPolicy } from '../src/policy/allow-all-policy.ts';
import type { RuntimeOptions } from '../src/runtime.ts';
import { createCounter } from '../src/testing/probe-tools.ts';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';
import { type Call, drivePlaces, Stall, VICTIM, type WaitingPlace, WRITE, wrapped } from './waiting-places.ts';

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

/** Listed with its facts, as in the bundles: the first call of it loads its code. */
function listed(stall: Stall): Setting {
  const { tool } = createCounter('probe_listed');
  const load = async () => {
    await stall.pass();
    return tool;
  };
  return {
    tools: [Object.freeze({ ...tool, schemaDigest: `sha256:${'0'.repeat(64)}`, load })],
    victim: [tool.name, {}],
  };
}

const INSIDE: readonly WaitingPlace[] = [
  inside('load', 'the code of the tool never arrives', listed),
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
  inside('rehearsal', 'the tool never says what it intends', (stall) => ({
    tools: [defineTool({ ...stubborn(stall), run: async () => ({}), rehearse: () => stall.pass().then(() => ({})) })],
    victim: ['probe_stubborn', { path: 'a.txt' }, { idempotencyKey: 'once' }],
  })),
  inside('intent', 'the journal never takes the intent', (stall) =>
    slowJournal(stall, (record) => record.kind === 'intent' && ofVictim(record)),
  ),
  inside('tool', 'the tool ignores its signal', (stall) => ({
    tools: [stubborn(stall)],
    victim: ['probe_stubborn', { path: 'a.txt' }],
  })),
  inside('servers', 'a language server never says what is wrong now', (stall) => ({
    ast: {
      covers: () => true,
      refresh: () => {},
      parseProblems: () => [],
      watchDiagnostics: () => stall.pass().then(() => undefined),
    },
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

drivePlaces(INSIDE);

/** Driven in waiting-programs.deep.test.ts, with real repositories. */
const WITH_PROGRAMS: readonly StageName[] = ['commitGate', 'cleanUp'];

test('every stage that waits is driven', () => {
  const driven = new Set([...WITH_PROGRAMS, ...INSIDE.map(({ stage }) => stage)]);
  assert.deepEqual([...driven].sort(), Object.keys(STAGES).sort());
});

/** The functions of stages that wait themselves instead of being waited for as a whole. */
const WAIT_THEMSELVES = [
  'loadTool',
  'loadListed',
  'answerTaped',
  'executeTool',
  'takeBack',
  'judgeAnswer',
  'recordResult',
  'recordRefusal',
  'recordReplay',
];
/** Answer at once, or through a function above. */
const ANSWER_AT_ONCE = ['normalizeArgs', 'finishCall'];

/** What a source text waits for: `await …`, the first argument of `andThen(…`, and what `.then(` is called on. */
function waitsIn(source: string): string[] {
  const awaited = [...source.matchAll(/\bawait ([^;]*)/g)].flatMap(([, text = '']) => text.split(/\bawait /));
  const chained = [...source.matchAll(/\bandThen\(\s*([^;]*)/g)].map(([, text = '']) => text);
  // What happens inside `time.wait(…)` is waited for by it.
  const outside = source.replace(/\btime\.wait\([^;]*/g, '');
  const thened = [...outside.matchAll(/([\w.]+(?:\([^()]*\))?)\.then\(/g)].map(([, text = '']) => text);
  return [...awaited, ...chained, ...thened]
    .map((text) => text.replace(/^settle\(\(\) =>\s*/, '').trimStart())
    .filter((text) => text !== '');
}

/** Whether the wait goes through the clock of the call, or through a function that is looked at itself. */
function isBounded(text: string, source: string, known: ReadonlySet<string | undefined>): boolean {
  if (/^(?:(?:(?:call|judged)\.)?open\.)?time\.wait\(/.test(text)) return true;
  const called = /^\w+/.exec(text)?.[0] ?? '';
  if (known.has(called)) return true;
  const values = [...source.matchAll(new RegExp(`\\bconst ${called} = ([^;]*)`, 'g'))].map(([, value = '']) => value);
  const others = values.reduce((rest, value) => rest.replace(value, ''), source);
  return (
    values.length > 0 &&
    values.flatMap((value) => waitsIn(`await ${value}`)).every((inner) => isBounded(inner, others, known))
  );
}

test('the conductor and its stages wait in no other way', () => {
  const folder = join(import.meta.dirname, '../src/call');
  const sources = readdirSync(folder)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => ({ name, source: readFileSync(join(folder, name), 'utf8') }));
  const pipeline = sources.find(({ name }) => name === 'pipeline.ts')?.source ?? '';
  const namesIn = (text: string) =>
    [...text.matchAll(/^(?:export )?(?:async )?function (\w+)/gm)].map(([, found]) => found);
  const own = sources.flatMap(({ name, source }) =>
    WAIT_THEMSELVES.flatMap((each) => {
      const [body] = new RegExp(`^(?:export )?(?:async )?function ${each}\\((?:.|\\n)*?^}`, 'm').exec(source) ?? [];
      // Private functions of a stage are waited for by its exported one.
      const inner = [...source.matchAll(/^(?:async )?function (\w+)/gm)].map(([, found]) => found);
      return body === undefined ? [] : [{ name, body, inner }];
    }),
  );
  assert.equal(own.length, WAIT_THEMSELVES.length);
  const known = [...ANSWER_AT_ONCE, ...WAIT_THEMSELVES, ...namesIn(pipeline)];
  for (const { name, body, inner } of [{ name: 'pipeline.ts', body: pipeline, inner: [] }, ...own]) {
    const waits = waitsIn(body);
    for (const text of waits) assert.ok(isBounded(text, body, new Set([...known, ...inner])), `${name}: ${text}`);
  }
  assert.ok(waitsIn(pipeline).length > 40, 'the waits of the conductor are found');
});

test('a wait past the clock of the call is noticed', () => {
  const known = new Set(['runStage']);
  for (const source of [
    'await parts.journal.append(records);',
    'return andThen(gate.judge(call), next);',
    'const asked = parts.policy.ask(call); await asked;',
    'return parts.policy.ask(call).then(next);',
  ]) {
    assert.equal(
      waitsIn(source).every((text) => isBounded(text, source, known)),
      false,
      source,
    );
  }
  const bounded = "const asked = settle(() => open.time.wait('gates', () => ask())); await asked; await runStage();";
  assert.ok(waitsIn(bounded).every((text) => isBounded(text, bounded, known)));
});
