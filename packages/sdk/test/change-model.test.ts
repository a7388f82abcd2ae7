/**
 * Random calls, recorded commands, undos and edits from outside, against a twin of the workspace on which plain programs do the
 * same: after every step both trees are equal byte for byte, in names, modes, links and empty folders.
 *
 * An undo of something that nothing touched since must give back the tree before it. Where something did, it may be refused, and
 * then nothing has changed; or it is done, and then no path outside of it has changed.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ToolResponse } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { openScratchRuntime, type ScratchRuntime } from '../src/testing/scratch-runtime.ts';

interface Entry {
  readonly text: string;
  readonly isFolder: boolean;
  readonly bytes?: Buffer;
  readonly mode: number;
  readonly target?: Buffer;
}

/** By name, one character for each byte. */
type Tree = ReadonlyMap<string, Entry>;

const at = (folder: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')]);
const LARGE = 4 * 1024 * 1024;

function look(folder: string): Tree {
  const tree = new Map<string, Entry>();
  const visit = (prefix: string): void => {
    const here = prefix === '' ? Buffer.from(folder) : at(folder, prefix.slice(0, -1));
    for (const raw of readdirSync(here, { encoding: 'buffer' }).sort(Buffer.compare)) {
      const name = `${prefix}${raw.toString('latin1')}`;
      const path = at(folder, name);
      const stat = lstatSync(path);
      const mode = stat.mode & 0o7777;
      if (stat.isSymbolicLink()) {
        const target = readlinkSync(path, 'buffer');
        tree.set(name, { text: `link ${target.toString('latin1')}`, isFolder: false, mode, target });
      } else if (stat.isDirectory()) {
        tree.set(name, { text: `folder ${mode.toString(8)}`, isFolder: true, mode });
        visit(`${name}/`);
      } else {
        const bytes = readFileSync(path);
        const digest = createHash('sha256').update(bytes).digest('hex');
        const kept = bytes.length > LARGE ? {} : { bytes };
        tree.set(name, { text: `file ${mode.toString(8)} ${bytes.length} ${digest}`, isFolder: false, mode, ...kept });
      }
    }
  };
  visit('');
  return tree;
}

const words = (tree: Tree): readonly string[] => [...tree].map(([name, { text }]) => `${name}: ${text}`).sort();

/** Names that differ between two trees. */
function differing(one: Tree, other: Tree): readonly string[] {
  return [...new Set([...one.keys(), ...other.keys()])].filter((name) => one.get(name)?.text !== other.get(name)?.text);
}

const inside = (folder: string, name: string): boolean => name.startsWith(`${folder}/`);

/** The present tree with the names of an earlier change as they were before it; undefined where that is no tree. */
function takenBack(now: Tree, before: Tree, names: readonly string[]): Tree | undefined {
  const tree = new Map(now);
  for (const name of names.toSorted((one, other) => other.length - one.length)) {
    const old = before.get(name);
    if (old !== undefined) tree.set(name, old);
    // A folder that holds something else stays.
    else if (![...tree.keys()].some((other) => inside(name, other))) tree.delete(name);
  }
  const isTree = [...tree.keys()].every((name) => {
    const slash = name.lastIndexOf('/');
    return slash < 0 || tree.get(name.slice(0, slash))?.isFolder === true;
  });
  return isTree ? tree : undefined;
}

function build(folder: string, tree: Tree): void {
  execFileSync('chmod', ['-R', 'u+rwx', folder]);
  for (const raw of readdirSync(folder, { encoding: 'buffer' }))
    rmSync(at(folder, raw.toString('latin1')), { recursive: true });
  const sorted = [...tree].sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [name, { isFolder, bytes, target, mode }] of sorted) {
    if (isFolder) mkdirSync(at(folder, name));
    else if (target !== undefined) symlinkSync(target, at(folder, name));
    else writeFileSync(at(folder, name), bytes ?? '', { mode });
  }
  for (const [name, { isFolder, target, mode }] of sorted.toReversed())
    if (target === undefined) chmodSync(at(folder, name), mode);
    else assert.ok(!isFolder);
}

/** What a recorded command leaves has one name each. */
function breakLinks(folder: string): void {
  for (const [name, { isFolder, target }] of look(folder)) {
    const path = at(folder, name);
    if (isFolder || target !== undefined || lstatSync(path).nlink === 1) continue;
    const beside = Buffer.concat([path, Buffer.from('~')]);
    copyFileSync(path, beside);
    renameSync(beside, path);
  }
}

const NAMES = ['a', 'b', 'd', 'd/x', 'd/y', 'e', 'e/f', 'e/f/g'] as const;
const name = fc.constantFrom(...NAMES);
const line = fc.constantFrom('one', 'two', 'three', 'four');

const symbolic = (mode: string): string =>
  mode === '644' ? 'go=r' : mode === '600' ? 'go=' : mode === '755' ? 'go=rX' : 'u+x';

const command = fc.oneof(
  fc
    .tuple(name, line)
    .map(([file, text]) => `mkdir -p "$(dirname ${file})"; printf '${text}\\r\\n${text}\\n' > ${file}`),
  fc.tuple(name, line).map(([file, text]) => `printf '${text}\\n' >> ${file}`),
  name.map((folder) => `mkdir -p ${folder}`),
  name.map((path) => `rm -rf ${path}`),
  fc.tuple(name, name).map(([from, to]) => `mv -T ${from} ${to}`),
  // Folders stay passable: a program in the sandbox is no root that could enter others.
  fc
    .tuple(name, fc.constantFrom('755', '644', '600', '700'))
    .map(([path, mode]) => `chmod u+rw,${symbolic(mode)} ${path}`),
  fc.tuple(name, name).map(([target, path]) => `rm -rf ${path}; ln -sfn ${target} ${path}`),
  fc.tuple(name, name, line).map(([from, to, text]) => `ln ${from} ${to} && echo ${text} >> ${to}`),
  fc.tuple(name, line).map(([folder, text]) => `rm -rf ${folder}; mkdir -p ${folder}; echo ${text} > ${folder}/new`),
  line.map((text) => `printf '${text}' > $'bad\\xff\\xfename'`),
  // Never into itself: what cp then copies depends on the order in which a folder is listed.
  name.map((path) => `rm -rf copied; cp -r ${path} copied; cp -r e copied`),
  fc.constantFrom('truncate -s 3M sparse; printf x >> sparse', 'rm -f sparse', 'mkdir -p empty/inner', 'rm -rf empty'),
  fc.constantFrom('mkdir -p d e/f; echo x > d/x; echo y > d/y; echo g > e/f/g', 'true', 'touch a; exit 3'),
);

type Step =
  | { readonly kind: 'command'; readonly line: string }
  | { readonly kind: 'outside'; readonly line: string }
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'move'; readonly path: string; readonly to: string }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'undo'; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: command.map((text): Step => ({ kind: 'command', line: text })) },
  { weight: 1, arbitrary: command.map((text): Step => ({ kind: 'outside', line: text })) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const), path: name, text: line }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), path: name, to: name }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), path: name }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('undo' as const), which: fc.nat({ max: 5 }) }) },
);

interface Done {
  readonly id: string;
  readonly before: Tree;
  readonly after: Tree;
}

class Model {
  readonly #scratch: ScratchRuntime;
  readonly #twin: string;
  readonly #done: Done[] = [];

  constructor(scratch: ScratchRuntime, twin: string) {
    this.#scratch = scratch;
    this.#twin = twin;
  }

  async take(taken: Step): Promise<void> {
    const before = look(this.#twin);
    if (taken.kind === 'undo') await this.#undo(taken.which, before);
    else if (taken.kind === 'outside') for (const folder of this.#folders) plainly(folder, taken.line);
    else await this.#act(taken, before);
    // Files that a plain program linked have one name each from here on.
    for (const folder of this.#folders) breakLinks(folder);
    assert.deepEqual(words(look(this.#scratch.workspace)), words(look(this.#twin)), JSON.stringify(taken));
  }

  get #folders(): readonly string[] {
    return [this.#scratch.workspace, this.#twin];
  }

  async #act(taken: Exclude<Step, { kind: 'undo' | 'outside' }>, before: Tree): Promise<void> {
    const { session } = this.#scratch;
    let answer: ToolResponse;
    if (taken.kind === 'command') {
      answer = await session.call('shell_exec', { cmd: taken.line, effects: 'recorded' });
      assert.deepEqual(answer.errors, [], taken.line);
      plainly(this.#twin, taken.line);
      breakLinks(this.#twin);
    } else {
      answer = await this.#tool(taken);
      if (answer.ok) this.#same(taken);
    }
    const after = look(this.#twin);
    const isChanged = differing(before, after).length > 0;
    assert.equal(
      answer.change_id !== undefined,
      isChanged,
      `${JSON.stringify(taken)} ${JSON.stringify(answer.errors)}`,
    );
    if (answer.change_id !== undefined) this.#done.push({ id: answer.change_id, before, after });
  }

  #tool(taken: Exclude<Step, { kind: 'undo' | 'outside' | 'command' }>): Promise<ToolResponse> {
    const { session } = this.#scratch;
    if (taken.kind === 'write')
      return session.call('file_write', { path: taken.path, content: `${taken.text}\r\n`, create_dirs: true });
    if (taken.kind === 'move') return session.call('fs_move', { src: taken.path, dst: taken.to, create_dirs: true });
    return session.call('fs_delete', { path: taken.path, recursive: true });
  }

  /** What the call did, by plain means. */
  #same(taken: Exclude<Step, { kind: 'undo' | 'outside' | 'command' }>): void {
    const path = join(this.#twin, taken.path);
    if (taken.kind === 'write')
      plainly(
        this.#twin,
        // A link to a file that is not there yet is followed, and the folders of that file are made.
        `mkdir -p "$(dirname "$(readlink -m ${taken.path})")"; printf '${taken.text}\\r\\n' > ${taken.path}`,
      );
    else if (taken.kind === 'move')
      plainly(this.#twin, `mkdir -p "$(dirname ${taken.to})"; mv -T ${taken.path} ${taken.to}`);
    else rmSync(path, { recursive: true, force: true });
  }

  async #undo(which: number, now: Tree): Promise<void> {
    const index = this.#done.length - 1 - which;
    const done = this.#done[index];
    if (done === undefined) return;
    const names = differing(done.before, done.after);
    const isUntouched = names.every((each) => now.get(each)?.text === done.after.get(each)?.text);
    const expected = isUntouched ? takenBack(now, done.before, names) : undefined;
    const answer = await this.#scratch.session.call('change_undo', { change_id: done.id });
    const found = look(this.#scratch.workspace);
    if (expected !== undefined) {
      assert.deepEqual(answer.errors, [], `undo of ${names.join(' ')}`);
      build(this.#twin, expected);
    } else if (!answer.ok) assert.deepEqual(words(found), words(now));
    else {
      const others = differing(now, found).filter((each) => !names.includes(each));
      assert.deepEqual(others, [], 'an undo touches the paths of its change set alone');
      build(this.#twin, found);
    }
    if (!answer.ok) return;
    this.#done.splice(index, 1);
    if (answer.change_id !== undefined) this.#done.push({ id: answer.change_id, before: now, after: look(this.#twin) });
  }
}

function plainly(folder: string, text: string): void {
  try {
    execFileSync('bash', ['-c', text], { cwd: folder, stdio: 'ignore' });
  } catch {
    // Commands that fail do so on both sides.
  }
}

async function runModel(steps: readonly Step[]): Promise<void> {
  const registry = { file: 'ops.yaml', text: 'version: 1\nshell: { mode: sandboxed }\neffects: recorded\n' };
  const scratch = await openScratchRuntime({ registry });
  const twin = mkdtempSync(join(tmpdir(), 'change-model-'));
  try {
    const model = new Model(scratch, twin);
    for (const each of steps) await model.take(each);
  } finally {
    await scratch.dispose();
    execFileSync('chmod', ['-R', 'u+rwx', twin]);
    rmSync(twin, { recursive: true, force: true });
  }
}

const sequences = (maxLength: number) => fc.array(step, { minLength: maxLength / 2, maxLength });

test('calls, commands, undos and edits from outside leave the tree that plain programs would', () =>
  runModel([
    { kind: 'command', line: 'mkdir -p d e/f; printf "x\\r\\n" > d/x; echo y > d/y; ln d/x a; chmod 700 e' },
    { kind: 'write', path: 'b', text: 'one' },
    { kind: 'command', line: "mv d e/d; printf raw > $'bad\\xff'; truncate -s 3M sparse; ln -s b link" },
    { kind: 'outside', line: 'echo more >> b' },
    { kind: 'undo', which: 0 },
    { kind: 'command', line: 'rm -rf e; mkdir e; echo new > e/new; chmod 755 b' },
    { kind: 'undo', which: 0 },
    { kind: 'undo', which: 0 },
    { kind: 'move', path: 'e', to: 'moved' },
    { kind: 'undo', which: 0 },
    // A file becomes a folder, and each undo takes the one before back.
    { kind: 'write', path: 'c', text: 'file' },
    { kind: 'command', line: 'rm c; mkdir c; echo new > c/new' },
    { kind: 'undo', which: 0 },
    { kind: 'undo', which: 0 },
    { kind: 'undo', which: 0 },
  ]));

/** `MODEL_RUNS=200` for a longer search. */
const RUNS = Number(process.env['MODEL_RUNS'] ?? 12);

test('random sequences do too (deep)', async () => {
  await fc.assert(fc.asyncProperty(sequences(24), runModel), { numRuns: RUNS, endOnFailure: true });
});

test('a sparse file of 1 GB is applied whole without a copy, and cannot be undone (deep)', async () => {
  const registry = { file: 'ops.yaml', text: 'version: 1\nshell: { mode: sandboxed }\neffects: recorded\n' };
  const scratch = await openScratchRuntime({ registry });
  try {
    const { session, workspace } = scratch;
    const line = 'truncate -s 1G large; printf end >> large; echo small > small';
    const answer = await session.call('shell_exec', { cmd: line, timeout_ms: 600_000 });
    assert.deepEqual(answer.errors, []);
    const stat = lstatSync(join(workspace, 'large'));
    assert.equal(stat.size, 1024 ** 3 + 3);
    assert.ok(stat.blocks * 512 < 1024 ** 2, 'it is still sparse');
    const removed = await session.call('shell_exec', { cmd: 'rm large small', timeout_ms: 600_000 });
    assert.deepEqual(removed.errors, []);
    const undone = await session.call('change_undo', { change_id: removed.change_id ?? '' });
    assert.equal(undone.errors[0]?.details?.['reason'], 'not_kept');
    const part = await session.call('change_undo', { change_id: removed.change_id ?? '', paths: ['small'] });
    assert.deepEqual([part.errors, readdirSync(workspace)], [[], ['small']]);
  } finally {
    await scratch.dispose();
  }
});
