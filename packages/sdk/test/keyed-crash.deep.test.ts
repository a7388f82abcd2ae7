/**
 * A key means exactly once, also after a crash: every tool that changes something, killed at every point of its path, with
 * and without another program that writes before the retry.
 */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import type { AnyTool } from '../src/contracts/tool.ts';
import * as builtInTools from '../src/tools/catalog.ts';
import { openRepository } from './git-repository.ts';
import { filesOf } from './git-state.ts';
import type { KeyedCase } from './keyed-case.ts';
import { CASES, curlCase } from './keyed-cases.ts';
import {
  openOn,
  POINTS,
  type Point,
  retry,
  retryIn,
  type StoppedScene,
  stopCalls,
  withoutHurry,
} from './keyed-crash.ts';
import { startWeb } from './loopback-server.ts';

type Meanwhile = 'nobody writes' | 'somebody writes' | 'somebody takes it back';

interface Scene extends StoppedScene {
  readonly beside: string;
  readonly given: KeyedCase;
  readonly meanwhile: Meanwhile;
}

interface Variant {
  readonly point: Point;
  readonly meanwhile: Meanwhile;
}

function scenesOf(given: KeyedCase, scratch: string): readonly Scene[] {
  const template = join(scratch, 'template');
  mkdirSync(join(template, 'work'), { recursive: true });
  given.prepare(join(template, 'work'), template);
  return variantsOf(given).map((variant, at) => {
    const beside = join(scratch, String(at));
    cpSync(template, beside, { recursive: true, verbatimSymlinks: true });
    const config = join(beside, 'work/.git/config');
    if (existsSync(config)) writeFileSync(config, readFileSync(config, 'utf8').replaceAll(template, beside));
    return sceneOf(given, variant, beside);
  });
}

function variantsOf(given: KeyedCase): readonly Variant[] {
  const quiet = POINTS.map((point) => ({ point, meanwhile: 'nobody writes' }) as const);
  const losing = given.outcome === 'unknown' ? (['after-effect'] as const) : LOSING;
  const written = losing.map((point) => ({ point, meanwhile: 'somebody writes' }) as const);
  const takenBack = { point: 'after-effect', meanwhile: 'somebody takes it back' } as const;
  return [...quiet, ...written, ...(given.takeBack === undefined ? [] : [takenBack])];
}

/** Points after which the journal alone cannot say what became of the call, and one at which it can. */
const LOSING = ['after-intent', 'after-effect', 'after-result'] as const;

function prepared(given: KeyedCase, variant: Variant, beside: string): Scene {
  mkdirSync(join(beside, 'work'), { recursive: true });
  given.prepare(join(beside, 'work'), beside);
  return sceneOf(given, variant, beside);
}

function sceneOf(given: KeyedCase, { point, meanwhile }: Variant, beside: string): Scene {
  const workspace = join(beside, 'work');
  const { tool, args, first } = given;
  return {
    ...{ id: beside, workspace, beside, state: join(beside, 'state'), point, meanwhile, given, tool, args },
    registry: withoutHurry(`version: 1\n${given.registry ?? ''}`, [tool, ...(first ?? []).map((one) => one.tool)]),
    ...(first === undefined ? {} : { first }),
  };
}

/** Everything the call could have changed, without hashes that hold a time. */
function worldOf({ workspace, beside }: Scene): unknown {
  const repositories = [workspace, join(beside, 'remote.git')].filter(
    (folder) => existsSync(join(folder, '.git')) || existsSync(join(folder, 'HEAD')),
  );
  const look = (folder: string) => {
    const { git } = openRepository(folder, beside);
    // Names of references are in it; those of recovery points hold a time.
    const history = git('log', '--exclude=refs/tool-runtime/*', '--all', '--decorate=full', '--format=%T %D %s %b');
    return [history.replace(/refs\/tool-runtime\/[^ ,]*/g, ''), folder === workspace ? git('ls-files', '--stage') : ''];
  };
  return [filesOf(workspace), repositories.map(look)];
}

function reasonOf(response: ToolResponse): unknown {
  return response.errors[0]?.details?.['reason'];
}

interface Outcome {
  readonly scene: Scene;
  readonly response: ToolResponse;
  readonly lostAnswer: unknown;
  /** Before and after the retry. */
  readonly worlds: readonly [unknown, unknown];
}

async function outcomesOf(scenes: readonly Scene[]): Promise<readonly Outcome[]> {
  const calls = await stopCalls(scenes);
  await calls.kill();
  const outcomes: Outcome[] = [];
  for (const scene of scenes) {
    const { args, answer } = calls.stopped.get(scene.id) ?? { args: scene.args, answer: null };
    if (scene.meanwhile === 'somebody writes') scene.given.interfere(scene.workspace);
    if (scene.meanwhile === 'somebody takes it back') scene.given.takeBack?.(scene.workspace);
    const before = worldOf(scene);
    const response = await retry({ ...scene, args });
    outcomes.push({ scene, response, lostAnswer: answer?.['data'], worlds: [before, worldOf(scene)] });
  }
  return outcomes;
}

/** The name of a recovery point is optional, and its random part died with the process; git_recover lists it. */
function withoutRecovery(answer: unknown): unknown {
  const { recovery: _recovery, ...rest } = { ...(answer as object) } as Record<string, unknown>;
  return rest;
}

/** What a retry must come to: the effect once in all, nothing of the other writer lost, the right answer. */
function judge({ scene, response, lostAnswer, worlds }: Outcome, done: unknown): void {
  const { given, point, meanwhile } = scene;
  const where = `${given.name}, ${point}, ${meanwhile}: ${JSON.stringify(response.errors)}`;
  const isQuiet = meanwhile === 'nobody writes';
  const ran = () => {
    assert.ok(response.ok, where);
    assert.deepEqual(worlds[1], done, where);
  };
  const unknown = () => {
    assert.deepEqual([response.ok, reasonOf(response)], [false, 'outcome_unknown'], where);
    assert.deepEqual(worlds[1], worlds[0], where);
  };
  /** What was not real yet is gone, and the retry says that instead of guessing. */
  const gone = () => {
    assert.deepEqual([response.ok, reasonOf(response)], [false, 'unknown_tx'], where);
    assert.deepEqual(worlds[1], worlds[0], where);
  };
  const answered = (lost = lostAnswer) => {
    assert.ok(response.ok, where);
    assert.deepEqual(response.data, lost, where);
    assert.deepEqual(worlds[1], worlds[0], where);
  };
  if (point === 'before-intent') {
    if (isQuiet && given.diesWithProcess !== true) ran();
    else assert.notEqual(reasonOf(response), 'outcome_unknown', where);
  } else if (point === 'after-result') answered();
  else if (given.outcome === 'unknown' || !isQuiet) unknown();
  else if (point === 'after-intent') (given.diesWithProcess === true ? gone : ran)();
  else if (given.outcome === 'compared')
    answered('recovery' in Object(response.data) ? lostAnswer : withoutRecovery(lostAnswer));
  else unknown();
}

const TOGETHER = 3;

function folderFor(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'tool-runtime-keyed-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function judgeAll(t: TestContext, cases: readonly KeyedCase[]): Promise<void> {
  const scratch = folderFor(t);
  const scenes = cases.flatMap((given, at) => scenesOf(given, join(scratch, String(at))));
  const outcomes = await outcomesOf(scenes);
  for (const given of cases) {
    const own = outcomes.filter(({ scene }) => scene.given === given);
    const quiet = own.find(({ scene }) => scene.point === 'after-effect' && scene.meanwhile === 'nobody writes');
    await t.test(given.name, () => {
      for (const outcome of own) judge(outcome, quiet?.worlds[0]);
    });
  }
}

describe('a keyed call killed at every point [S1-42 S1-43]', () => {
  test('every tool that changes something has a case', () => {
    // These need the change set or the transaction of an earlier call; a lost one is settled by the operator, as for every
    // tool with `none`.
    const later = new Set(['change_apply', 'change_discard', 'change_undo', 'tx_begin', 'tx_abort']);
    const tools = Object.values(builtInTools as Record<string, AnyTool>).filter(
      ({ effect, name, rehearse }) => effect !== 'read' && !(later.has(name) && rehearse === 'none'),
    );
    const named = new Set([...Object.values(CASES).flat(), curlCase('', '')].map(({ tool }) => tool));
    assert.deepEqual([...named].sort(), tools.map(({ name }) => name).sort());
  });

  for (const [group, cases] of Object.entries(CASES)) {
    // One process for a few cases: no test takes long, and few processes are started.
    for (let from = 0; from < cases.length; from += TOGETHER) {
      const some = cases.slice(from, from + TOGETHER);
      test(`${group}, from ${some[0]?.name}`, (t) => judgeAll(t, some));
    }
  }

  test('network', async (t) => {
    const server = await startWeb(t, (_request, response) => void response.end('thanks'));
    const registry = `network: {allowed_domains: ['127.0.0.1:${server.port}']}\n`;
    await judgeAll(t, [curlCase(`http://127.0.0.1:${server.port}/`, registry)]);
    // One ran when it was retried, and three had had their effect before the crash.
    assert.equal(server.requests.length, 4);
  });
});

const WRITE = CASES.files[0] as KeyedCase;
const SHELL = CASES.other[0] as KeyedCase;

describe('a process that lives while another dies [S1-42]', () => {
  test('decides the keys of the dead one without a restart, and no sooner', async (t) => {
    const scratch = folderFor(t);
    const scene = (given: KeyedCase, point: Point, name: string) =>
      prepared(given, { point, meanwhile: 'nobody writes' }, join(scratch, name));
    const scenes = [
      scene(WRITE, 'after-effect', 'a'),
      scene(WRITE, 'after-intent', 'b'),
      scene(SHELL, 'after-intent', 'c'),
    ];
    const calls = await stopCalls(scenes);
    const hosts = await Promise.all(scenes.map(openOn));
    const retryAll = () => Promise.all(hosts.map((host, at) => retryIn(host, scenes[at] as Scene)));
    try {
      assert.deepEqual((await retryAll()).map(reasonOf), Array(3).fill('outcome_unknown'));
      await calls.kill();
      const [happened, notHappened, unknown] = await retryAll();
      assert.deepEqual([happened?.ok, notHappened?.ok], [true, true]);
      assert.equal(unknown && reasonOf(unknown), 'outcome_unknown');
      const classes = hosts.map((host) =>
        [...host.records({ kind: 'recovery' })].map((record) => record.kind === 'recovery' && record.classification),
      );
      assert.deepEqual(classes, [['reconcile', 'resolved'], ['reconcile', 'retry_safe'], ['reconcile']]);
      assert.ok(hosts.every((host) => host.verify().ok));
    } finally {
      await Promise.all(hosts.map((host) => host.close()));
    }
  });

  test('looks for calls of dead processes now and then by itself', async (t) => {
    const scene = prepared(WRITE, { point: 'after-effect', meanwhile: 'nobody writes' }, folderFor(t));
    const calls = await stopCalls([scene]);
    const { createRuntime } = await import('../src/index.ts');
    const { workspace, state } = scene;
    const host = await createRuntime({ workspace, state, ports: { reconcileEveryMs: 20 } });
    try {
      await calls.kill();
      // Keeps the process alive: the timer of the runtime does not.
      const waiting = setInterval(() => {}, 1000);
      while ([...host.records({ kind: 'recovery' })].length < 2) await new Promise((done) => setTimeout(done, 5));
      clearInterval(waiting);
      writeFileSync(join(workspace, 'a.txt'), 'of somebody else\n');
      const response = await retryIn(host, scene);
      assert.equal(response.ok, true, 'proven before somebody else wrote');
      assert.equal(readFileSync(join(workspace, 'a.txt'), 'utf8'), 'of somebody else\n');
    } finally {
      await host.close();
    }
  });

  test('several that retry the same key at once run it once', async (t) => {
    const scratch = folderFor(t);
    const append = CASES.files.find(({ name }) => name === 'file_write that appends') as KeyedCase;
    const scene = prepared(append, { point: 'after-intent', meanwhile: 'nobody writes' }, scratch);
    const calls = await stopCalls([scene]);
    await calls.kill();
    const hosts = await Promise.all(Array.from({ length: 4 }, () => openOn(scene)));
    try {
      const answers = await Promise.all(hosts.flatMap((host) => [retryIn(host, scene), retryIn(host, scene)]));
      assert.ok(answers.some(({ ok }) => ok));
      assert.equal(readFileSync(join(scene.workspace, 'a.txt'), 'utf8'), 'old\nmore\n');
      for (const response of answers.filter(({ ok }) => !ok)) {
        assert.ok(
          ['outcome_unknown', 'key_taken'].includes(String(reasonOf(response))),
          JSON.stringify(response.errors),
        );
      }
    } finally {
      await Promise.all(hosts.map((host) => host.close()));
    }
  });
});

describe('what an operator says about a lost call [S1-43]', () => {
  test('completed: the key gives the answer the call intended, or a warning that it is unknown', async (t) => {
    const scratch = folderFor(t);
    for (const [given, name] of [
      [WRITE, 'a'],
      [SHELL, 'b'],
    ] as const) {
      const scene = prepared(given, { point: 'after-effect', meanwhile: 'somebody writes' }, join(scratch, name));
      const calls = await stopCalls([scene]);
      await calls.kill();
      given.interfere(scene.workspace);
      const host = await openOn(scene);
      const [lost] = host.unfinished;
      await host.resolvePending(lost?.callId ?? '', 'completed', 'seen');
      const response = await retryIn(host, scene);
      await host.close();
      const expected = given === WRITE ? calls.stopped.get(scene.id)?.answer?.['data'] : null;
      assert.deepEqual([response.ok, response.data], [true, expected]);
      const warned = response.warnings.map(({ details }) => details?.['reason']);
      assert.deepEqual(warned, given === WRITE ? [] : ['answer_unknown']);
    }
  });
});
