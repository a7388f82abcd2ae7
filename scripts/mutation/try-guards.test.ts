/** The removal of checks on a made-up project, where it is known which of them a test covers. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { trialLine, trialTable } from './print-trials.ts';
import { type Trials, tryGuards } from './try-guards.ts';

const SOURCE = `/** Who may come in. */
export function mayEnter(name: string, age: number): boolean {
  if (name === '') return false;
  if (age < 18) return false;
  return true;
}
`;

const TEST = `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayEnter } from './door.ts';

test('somebody of age comes in', () => assert.equal(mayEnter('Ada', 36), true));
test('a child does not', () => assert.equal(mayEnter('Tom', 12), false));
`;

interface Entry {
  readonly id: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly tests: readonly string[];
}

function entry(id: string, more: Partial<Entry> = {}): Entry {
  const find = '  if (age < 18) return false;\n';
  return { id, file: 'door.ts', find, replace: '', tests: ['door.test.ts'], ...more };
}

/** Paths are below `packages/house/src`. */
function project(context: TestContext, guards: readonly Entry[], files: Readonly<Record<string, string>> = {}): string {
  const root = mkdtempSync(path.join(os.tmpdir(), 'mutation-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  const sources = path.join(root, 'packages/house/src');
  mkdirSync(sources, { recursive: true });
  writeFileSync(path.join(root, 'package.json'), JSON.stringify({ type: 'module' }));
  const all = { 'door.ts': SOURCE, 'door.test.ts': TEST, 'guards.json': JSON.stringify(guards), ...files };
  for (const [name, text] of Object.entries(all)) writeFileSync(path.join(sources, name), text);
  return root;
}

function run(root: string, isChosen: (id: string) => boolean = () => true): Promise<Trials> {
  return tryGuards(root, { workers: 1, isChosen, onProgress: () => {} });
}

function verdicts({ trials }: Trials): Readonly<Record<string, string>> {
  return Object.fromEntries(trials.map(({ guard, verdict }) => [guard.id, verdict.kind]));
}

describe('taking checks away', () => {
  test('tells guards that a test covers from those that none covers, and from invalid entries', async (context) => {
    const root = project(context, [
      entry('door.noticed'),
      entry('door.unnoticed', { find: "  if (name === '') return false;\n" }),
      entry('door.broken', { replace: '  if (age < 18 return false;\n' }),
      entry('door.not-there', { find: 'if (isDrunk) return false;' }),
      entry('door.twice', { find: 'return false;' }),
      entry('door.does-not-load', { find: 'export function mayEnter', replace: 'export function mayLeave' }),
    ]);
    const found = await run(root);
    assert.deepEqual(found.problems, []);
    assert.deepEqual(verdicts(found), {
      'door.noticed': 'killed',
      'door.unnoticed': 'survived',
      'door.broken': 'invalid',
      'door.not-there': 'invalid',
      'door.twice': 'invalid',
      'door.does-not-load': 'invalid',
    });
    const [noticed] = found.trials;
    assert.match(
      noticed === undefined ? '' : trialLine(noticed),
      /^door\.noticed: killed by "a child does not" in door/,
    );
    assert.match(trialTable(found.trials).at(-1) ?? '', /^ *all +6 +1 +1 +4 /);
    assert.equal(readFileSync(path.join(root, 'packages/house/src/door.ts'), 'utf8'), SOURCE, 'only a copy is changed');
  });

  test('runs the tests that are named, of the entries that are chosen', async (context) => {
    const root = project(context, [
      entry('door.by-the-right-test', { tests: ['door.test.ts#a child'] }),
      entry('door.by-another-test', { tests: ['door.test.ts#of age'] }),
      entry('house.not-chosen', { find: 'nothing of the kind' }),
    ]);
    const found = await run(root, (id) => id.startsWith('door.'));
    assert.deepEqual(verdicts(found), { 'door.by-the-right-test': 'killed', 'door.by-another-test': 'survived' });
  });

  test('tries nothing when a named test fails or is missing with every check in place', async (context) => {
    const failing = {
      'roof.test.ts': "import { test } from 'node:test';\ntest('it rains in', () => test.nothing());\n",
    };
    const leaky = await run(project(context, [entry('door.a', { tests: ['roof.test.ts'] })], failing));
    assert.deepEqual(leaky.trials, []);
    assert.match(leaky.problems.join(), /roof\.test\.ts fails with every check in place: it rains in/);
    const unnamed = await run(project(context, [entry('door.a', { tests: ['door.test.ts#an old man'] })]));
    assert.deepEqual(unnamed.trials, []);
    assert.match(unnamed.problems.join(), /no test of this name/);
  });

  test('tries nothing when a list cannot be read', async (context) => {
    const found = await run(project(context, [], { 'guards.json': '[{ "id": "door.a" }]' }));
    assert.deepEqual(found.trials, []);
    assert.match(found.problems.join(), /packages\/house\/src\/guards\.json: .*file/s);
  });
});
