/** Every listed check in turn, over several copies at once; first the tests must pass while all checks are in place. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { listFiles } from '../structure/read-tree.ts';
import { type Guard, isGuardList, parseGuards, shownTest } from './guard.ts';
import { runTestFile } from './run-test-file.ts';
import { tryGuard, type Verdict } from './try-guard.ts';
import { makeWorkCopy, type WorkCopy } from './work-copy.ts';

export interface Trial {
  readonly guard: Guard;
  readonly verdict: Verdict;
  readonly millis: number;
}

export interface Trials {
  readonly trials: readonly Trial[];
  /** Tests that fail although nothing is taken out, or lists that cannot be read; nothing was tried then. */
  readonly problems: readonly string[];
}

export interface TryOptions {
  readonly workers: number;
  isChosen(id: string): boolean;
  onProgress(step: Trial | { readonly test: string }): void;
}

export async function tryGuards(root: string, options: TryOptions): Promise<Trials> {
  const { guards, problems } = chooseGuards(root, options);
  if (problems.length > 0) return { trials: [], problems };
  const place = mkdtempSync(path.join(os.tmpdir(), 'mutate-'));
  // Some tests run as another user and must find the sources.
  chmodSync(place, 0o755);
  const clean = () => rmSync(place, { recursive: true, force: true });
  process.once('exit', clean);
  try {
    const copies = Array.from({ length: options.workers }, (_, at) => makeWorkCopy(root, folderIn(place, String(at))));
    const failing = await runUntouched(guards, copies, options);
    if (failing.length > 0) return { trials: [], problems: failing };
    return { trials: await spread(guards, copies, (guard, copy) => timed(guard, copy, options)), problems: [] };
  } finally {
    process.removeListener('exit', clean);
    clean();
  }
}

function chooseGuards(root: string, { isChosen }: TryOptions): { guards: Guard[]; problems: string[] } {
  const lists = listFiles(root).filter(isGuardList).sort();
  const parsed = lists.map((list) => ({ list, ...parseGuards(list, readFileSync(path.join(root, list), 'utf8')) }));
  return {
    guards: parsed.flatMap(({ guards }) => guards).filter(({ id }) => isChosen(id)),
    problems: parsed.flatMap(({ list, problem }) => (problem === undefined ? [] : [`${list}: ${problem}`])),
  };
}

function folderIn(place: string, name: string): string {
  const folder = path.join(place, name);
  mkdirSync(folder);
  return folder;
}

async function runUntouched(
  guards: readonly Guard[],
  copies: readonly WorkCopy[],
  { onProgress }: TryOptions,
): Promise<string[]> {
  const tests = new Map(guards.flatMap((guard) => guard.tests).map((test) => [shownTest(test), test]));
  const problems = await spread([...tests].sort(), copies, async ([shown, test], copy) => {
    const outcome = await runTestFile(test, copy);
    onProgress({ test: shown });
    if (outcome.kind === 'passed') return [];
    return [`${shown} fails with every check in place: ${outcome.kind === 'failed' ? outcome.test : outcome.reason}`];
  });
  return problems.flat();
}

async function timed(guard: Guard, copy: WorkCopy, { onProgress }: TryOptions): Promise<Trial> {
  const start = performance.now();
  const verdict = await tryGuard(guard, copy);
  const trial = { guard, verdict, millis: performance.now() - start };
  onProgress(trial);
  return trial;
}

/** Each copy takes the next item when it is free; answers are in the order of the items. */
async function spread<Item, Answer>(
  items: readonly Item[],
  copies: readonly WorkCopy[],
  work: (item: Item, copy: WorkCopy) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  const queue = items.entries();
  await Promise.all(
    copies.map(async (copy) => {
      for (const [at, item] of queue) answers[at] = await work(item, copy);
    }),
  );
  return answers;
}
