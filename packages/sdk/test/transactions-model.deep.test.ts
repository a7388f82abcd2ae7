/** Random calls inside and outside of transactions against a plain model of the tree. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { transactionScene } from './transaction-scene.ts';

const PATHS = ['a', 'b', 'd/c', 'd/e', 'f/g/h'] as const;
type Path = (typeof PATHS)[number];

/** Three letters, far enough apart that changes of two of them never touch. */
type Letters = readonly [string, string, string];
const textOf = (letters: Letters): string => letters.map((letter) => `${letter}\n-\n-\n`).join('');

type Step =
  | { readonly kind: 'write' | 'command' | 'outside'; readonly path: Path; readonly letters: Letters }
  | { readonly kind: 'edit' | 'outside-edit'; readonly path: Path; readonly at: number; readonly letter: string }
  | { readonly kind: 'delete' | 'remove-by-command' | 'outside-delete' | 'read'; readonly path: Path }
  | { readonly kind: 'move'; readonly path: Path; readonly to: Path }
  | { readonly kind: 'begin' | 'commit' | 'abort' | 'undo' };

const path = fc.constantFrom(...PATHS);
const letter = fc.constantFrom('A', 'B', 'C', 'D');
const letters = fc.tuple(letter, letter, letter);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constantFrom('write', 'outside'), path, letters }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('command'), path, letters }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('edit', 'outside-edit'), path, at: fc.nat(2), letter }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('delete', 'outside-delete', 'read'), path }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove-by-command'), path }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('move'), path, to: path }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('begin', 'begin', 'commit', 'abort', 'undo') }) },
) as fc.Arbitrary<Step>;

type Tree = Map<string, string>;

/** What the transaction knows: what each path was when it first changed it, and what it is there now. */
interface Staged {
  readonly base: Map<string, string | undefined>;
  readonly now: Map<string, string | undefined>;
  /** Changed by others before the transaction changed them: it is not promised what it sees of them, so it leaves them alone. */
  readonly foreign: Set<string>;
}

class Model {
  readonly real: Tree = new Map();
  staged: Staged | undefined;
  /** The tree before the last commit, as long as no one has changed anything since. */
  undoable: Tree | undefined;

  seen(name: string): string | undefined {
    return this.staged?.now.has(name) === true ? this.staged.now.get(name) : this.real.get(name);
  }

  mayTouch(name: string): boolean {
    return this.staged?.foreign.has(name) !== true;
  }

  set(name: string, text: string | undefined): void {
    if (this.staged === undefined) {
      this.setReal(name, text);
      return;
    }
    if (!this.staged.base.has(name)) this.staged.base.set(name, this.real.get(name));
    this.staged.now.set(name, text);
  }

  setReal(name: string, text: string | undefined): void {
    if (this.real.get(name) === text) return;
    this.undoable = undefined;
    if (text === undefined) this.real.delete(name);
    else this.real.set(name, text);
    if (this.staged?.base.has(name) === false) this.staged.foreign.add(name);
  }

  takeBack(): void {
    const before = this.undoable ?? this.real;
    this.undoable = undefined;
    for (const name of PATHS) {
      const text = before.get(name);
      if (text === undefined) this.real.delete(name);
      else this.real.set(name, text);
    }
  }

  /** The paths that clash; when there are none, the commit is made. */
  commit(): readonly string[] {
    const { base, now } = this.staged ?? { base: new Map(), now: new Map() };
    const results = [...now].map(([name, ours]) => ({
      name,
      result: merged(base.get(name), ours, this.real.get(name)),
    }));
    const clashes = results.filter(({ result }) => result === 'clash').map(({ name }) => name);
    if (clashes.length > 0) return clashes.sort();
    const before = new Map(this.real);
    this.staged = undefined;
    for (const { name, result } of results) {
      if (result === 'clash') continue;
      this.setReal(name, result.text);
    }
    this.undoable = sameTree(before, this.real) ? undefined : before;
    return [];
  }
}

function merged(base: string | undefined, ours: string | undefined, theirs: string | undefined) {
  if (ours === theirs || theirs === base) return { text: ours };
  if (ours === base) return { text: theirs };
  if (base === undefined || ours === undefined || theirs === undefined) return 'clash' as const;
  const [old, left, right] = [base, ours, theirs].map((text) => text.split('\n'));
  const lines = (old ?? []).map((line, at) => {
    if (left?.[at] === right?.[at] || right?.[at] === line) return left?.[at];
    return left?.[at] === line ? right?.[at] : undefined;
  });
  return lines.includes(undefined) ? ('clash' as const) : { text: lines.join('\n') };
}

function sameTree(one: Tree, other: Tree): boolean {
  return one.size === other.size && [...one].every(([name, text]) => other.get(name) === text);
}

function readTree(folder: string, prefix = ''): Tree {
  const tree: Tree = new Map();
  for (const name of readdirSync(folder)) {
    const full = join(folder, name);
    if (statSync(full).isDirectory())
      for (const [inner, text] of readTree(full, `${prefix}${name}/`)) tree.set(inner, text);
    else tree.set(`${prefix}${name}`, readFileSync(full, 'utf8'));
  }
  return tree;
}

/** Without overlays no command can be part of a transaction: a tool does the same then. */
async function world(t: TestContext, hasOverlay: boolean) {
  const scene = await transactionScene(t, hasOverlay ? {} : { registry: 'isolation: none\n', shell: 'strict' });
  for (const folder of ['d', 'f/g']) mkdirSync(scene.path(folder), { recursive: true });
  let commit: string | undefined;
  const outside = (name: string, text: string | undefined): void => {
    if (text === undefined) rmSync(scene.path(name));
    else writeFileSync(scene.path(name), text);
  };

  async function perform(model: Model, one: Step): Promise<void> {
    const { done, refused, ask } = scene;
    switch (one.kind) {
      case 'begin':
        if (model.staged !== undefined) return;
        await done('tx_begin');
        model.staged = { base: new Map(), now: new Map(), foreign: new Set() };
        return;
      case 'commit': {
        if (model.staged === undefined) return;
        const clashes = model.commit();
        if (clashes.length > 0) {
          const error = await refused('tx_commit');
          assert.deepEqual([error['reason'], (error['paths'] as string[]).toSorted()], ['conflict', clashes]);
          return;
        }
        commit = (await ask('tx_commit')).change_id;
        return;
      }
      case 'abort':
        if (model.staged === undefined) return;
        await done('tx_abort');
        model.staged = undefined;
        return;
      case 'undo':
        if (model.staged !== undefined || model.undoable === undefined || commit === undefined) return;
        await done('change_undo', { change_id: commit });
        model.takeBack();
        return;
      case 'outside':
        outside(one.path, textOf(one.letters));
        model.setReal(one.path, textOf(one.letters));
        return;
      case 'outside-edit':
      case 'outside-delete': {
        const old = model.real.get(one.path);
        if (old === undefined) return;
        const text = one.kind === 'outside-edit' ? edited(old, one) : undefined;
        outside(one.path, text);
        model.setReal(one.path, text);
        return;
      }
    }
    if (!model.mayTouch(one.path)) return;
    await performInside(model, one);
  }

  async function performInside(model: Model, one: Extract<Step, { path: Path }>): Promise<void> {
    const { done, refused } = scene;
    const old = model.seen(one.path);
    switch (one.kind) {
      case 'write':
        await done('file_write', { path: one.path, content: textOf(one.letters) });
        return model.set(one.path, textOf(one.letters));
      case 'command':
        if (!hasOverlay) await done('file_write', { path: one.path, content: textOf(one.letters) });
        else await done('shell_exec', { cmd: `printf '${textOf(one.letters).replaceAll('\n', '\\n')}' > ${one.path}` });
        return model.set(one.path, textOf(one.letters));
      case 'edit': {
        if (old === undefined) return;
        const text = edited(old, one);
        await done('file_write', { path: one.path, content: text });
        return model.set(one.path, text);
      }
      case 'delete':
      case 'remove-by-command':
        if (old === undefined) return;
        if (one.kind === 'delete' || !hasOverlay) await done('fs_delete', { path: one.path });
        else await done('shell_exec', { cmd: `rm ${one.path}` });
        return model.set(one.path, undefined);
      case 'move':
        if (old === undefined || one.path === one.to || !model.mayTouch(one.to)) return;
        await done('fs_move', { src: one.path, dst: one.to, overwrite: true });
        model.set(one.path, undefined);
        return model.set(one.to, old);
      case 'read':
        if (old === undefined) await refused('file_read', { path: one.path });
        else assert.equal((await done('file_read', { path: one.path }))['content'], old);
    }
  }

  return {
    ...scene,
    perform,
    async clean(model: Model): Promise<void> {
      if (model.staged !== undefined) await scene.done('tx_abort');
      for (const name of PATHS) if (existsSync(scene.path(name))) rmSync(scene.path(name));
    },
  };
}

function edited(text: string, { at, letter: one }: { readonly at: number; readonly letter: string }): string {
  const lines = text.split('\n');
  lines[at * 3] = one;
  return lines.join('\n');
}

for (const [ground, hasOverlay] of [
  ['an overlay', true],
  ['a copy', false],
] as const)
  test(`random calls inside and outside of transactions on ${ground} leave the tree that a plain model has`, async (t) => {
    const { perform, clean, workspace } = await world(t, hasOverlay);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
        const model = new Model();
        try {
          for (const one of steps) {
            await perform(model, one);
            assert.deepEqual([...readTree(workspace)].sort(), [...model.real].sort(), JSON.stringify(one));
          }
        } finally {
          await clean(model);
        }
      }),
      { numRuns: 25 },
    );
  });
