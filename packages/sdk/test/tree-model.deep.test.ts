/** Random trees and random operations: the workspace on both back ends against a plain model in memory. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isToolError } from '@tool-runtime/protocol';
import fc from 'fast-check';
import { openRoot } from '../src/platform/descriptors/root.ts';
import { createWorkspace, type FileWorkspace } from '../src/platform/files/workspace.ts';
import type { Folder, Node } from './model-paths.ts';
import { answerOf, listing, type Operation } from './tree-model.ts';

const RUNS = 300;
const BACKENDS = ['openat2', 'walk'] as const;

const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', 'c') },
  { weight: 1, arbitrary: fc.constantFrom('ä', '-rf', ' ', '*', 'x\ny', '...', '.h') },
);
const linkText = fc.constantFrom(
  'a',
  'b',
  './a',
  '../a',
  'b/c',
  'c/../a',
  '..',
  '.',
  'missing',
  '/etc',
  '../../..',
  'a/',
);

const { node } = fc.letrec<{ node: Node; folder: Node; leaf: Node }>((tie) => ({
  node: fc.oneof({ depthSize: 'small', maxDepth: 3 }, tie('leaf'), tie('folder')),
  leaf: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('file' as const),
        content: fc.string({ maxLength: 4 }),
        mode: fc.constantFrom(0o644, 0o600, 0o755),
      }),
    },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('link' as const), text: linkText }) },
  ),
  folder: fc
    .tuple(
      fc.constantFrom(0o755, 0o700),
      fc.array(
        fc.tuple(fc.oneof({ weight: 12, arbitrary: name }, { weight: 1, arbitrary: fc.constant('.git') }), tie('node')),
        { maxLength: 4 },
      ),
    )
    .map(([mode, children]) => ({ type: 'folder' as const, mode, children: new Map(children) })),
}));
const tree = fc
  .array(fc.tuple(name, node), { minLength: 1, maxLength: 5 })
  .map((children): Folder => ({ type: 'folder', mode: 0o755, children: new Map(children) }));

const component = fc.oneof(
  { weight: 8, arbitrary: name },
  { weight: 1, arbitrary: fc.constantFrom('..', '.', '.git', '.GIT') },
);
const spelled = fc
  .tuple(fc.array(component, { minLength: 1, maxLength: 3 }), fc.constantFrom('', '', '', '/', '/.'))
  .map(([parts, end]) => parts.join('/') + end);
/** Text as it stands, or the how-manieth path of the tree at that moment, so that many operations find something. */
const path = fc.oneof(
  spelled,
  fc.nat({ max: 1000 }).map((pick) => `#${pick}`),
);
const flag = fc.boolean();
const content = fc.string({ maxLength: 4 });

const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ do: fc.constant('write' as const), path, content, createDirs: flag }),
  fc.record({ do: fc.constant('mkdir' as const), path }),
  fc.record({ do: fc.constant('move' as const), from: path, to: path, overwrite: flag, createDirs: flag }),
  fc.record({
    do: fc.constant('copy' as const),
    from: path,
    to: path,
    overwrite: flag,
    createDirs: flag,
    preserveMode: flag,
  }),
  fc.record({ do: fc.constant('remove' as const), path, recursive: flag }),
);

function concrete(operation: Operation, model: Folder): Operation {
  const known = paths(model, '');
  const chosen = Object.entries(operation).map(([key, value]: [string, unknown]) => {
    const pick = typeof value === 'string' ? /^#(\d+)$/.exec(value)?.[1] : undefined;
    return [key, pick === undefined || known.length === 0 ? value : known[Number(pick) % known.length]];
  });
  return Object.fromEntries(chosen) as Operation;
}

function paths(folder: Folder, above: string): string[] {
  return [...folder.children].flatMap(([child, inner]) => [
    above + child,
    ...(inner.type === 'folder' ? paths(inner, `${above}${child}/`) : []),
  ]);
}

function build(directory: string, folder: Folder): void {
  for (const [child, inner] of folder.children) {
    const at = join(directory, child);
    if (inner.type === 'link') symlinkSync(inner.text, at);
    else if (inner.type === 'file') writeFileSync(at, inner.content);
    else {
      mkdirSync(at);
      build(at, inner);
    }
    if (inner.type !== 'link') chmodSync(at, inner.mode);
  }
}

function read(path: string): Node {
  const stat = lstatSync(path);
  const mode = stat.mode & 0o7777;
  if (stat.isSymbolicLink()) return { type: 'link', text: readlinkSync(path) };
  if (stat.isFile()) return { type: 'file', mode, content: readFileSync(path, 'utf8') };
  return {
    type: 'folder',
    mode,
    children: new Map(readdirSync(path).map((child) => [child, read(join(path, child))])),
  };
}

async function answer(workspace: FileWorkspace, operation: Operation): Promise<number | string> {
  try {
    return await perform(workspace, operation);
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    assert.match(thrown.message, /^[^\p{Cc}]+: [^\p{Cc}]+$/u);
    return thrown.code;
  }
}

async function perform(workspace: FileWorkspace, operation: Operation): Promise<number> {
  switch (operation.do) {
    case 'write':
      await workspace.writeFile(operation.path, Buffer.from(operation.content), operation);
      return 1;
    case 'mkdir':
      return (await workspace.makeDirectory(operation.path)) === null ? 0 : 1;
    case 'move':
      return (await workspace.move(operation.from, operation.to, operation)).entries;
    case 'copy':
      return (await workspace.copy(operation.from, operation.to, operation)).entries;
    case 'remove':
      return (await workspace.remove(operation.path, operation))?.entries ?? 0;
  }
}

test('both back ends answer and leave behind what a plain model of a tree does [S0-27 S0-28 S0-29 S0-34]', async (t) => {
  const base = mkdtempSync(join(tmpdir(), 'tree-model-'));
  const umask = process.umask(0o022);
  t.after(() => {
    process.umask(umask);
    rmSync(base, { recursive: true, force: true });
  });
  const answers = new Map<string, number>();
  const descriptors = readdirSync('/proc/self/fd').length;
  await fc.assert(
    fc.asyncProperty(tree, fc.array(operation, { minLength: 1, maxLength: 12 }), async (start, operations) => {
      const places = BACKENDS.map((backend) => {
        const directory = mkdtempSync(join(base, `${backend}-`));
        build(directory, start);
        return { directory, root: openRoot(directory, { backend }) };
      });
      const model = structuredClone(start);
      for (const abstract of operations) {
        const step = concrete(abstract, model);
        const expected = answerOf(model, step);
        answers.set(`${step.do} ${expected}`, (answers.get(`${step.do} ${expected}`) ?? 0) + 1);
        for (const { directory, root } of places) {
          assert.equal(await answer(createWorkspace(root), step), expected, `${root.backend} ${JSON.stringify(step)}`);
          assert.deepEqual(listing(read(directory)), listing(model), `${root.backend} ${JSON.stringify(step)}`);
        }
      }
      for (const { directory, root } of places) {
        root.close();
        rmSync(directory, { recursive: true });
      }
    }),
    { numRuns: RUNS },
  );
  assert.equal(readdirSync('/proc/self/fd').length, descriptors);
  // The generator must reach both sides of every operation, or the comparison proves little.
  for (const kind of ['write', 'mkdir', 'move', 'copy', 'remove']) {
    for (const side of ['1', 'E_FILE_IO', 'E_POLICY']) assert.ok(answers.has(`${kind} ${side}`), `${kind} ${side}`);
  }
  t.diagnostic(JSON.stringify(Object.fromEntries([...answers].sort())));
});
