/**
 * Small projects for tests of renaming, with the answer written into the source: `«x»` is a token that must become the
 * new name, `«x→x: y»` one that must become that text, and a star, `«*x»`, marks the one that is asked for.
 */
import assert from 'node:assert/strict';
import { planRename } from '../../src/scope/rename/plan-rename.ts';
import type { RenameTarget } from '../../src/scope/rename/rename-plan.ts';
import type { ProjectFiles } from '../../src/scope/scope-model.ts';
import type { Engine } from '../../src/symbols/engine.ts';

export interface MarkedProject {
  readonly files: ProjectFiles;
  readonly texts: Readonly<Record<string, string>>;
  readonly target: RenameTarget;
  /** Path, byte offset and new text of every mark, sorted. */
  readonly expected: readonly string[];
}

const MARK = /«(\*?)([^«»→]+)(?:→([^»]*))?»/g;

export function readMarked(marked: Readonly<Record<string, string>>, newName: string): MarkedProject {
  const texts: Record<string, string> = {};
  const expected: string[] = [];
  let target: RenameTarget | undefined;
  for (const [path, text] of Object.entries(marked)) {
    let plain = '';
    let from = 0;
    for (const match of text.matchAll(MARK)) {
      const [whole, star, name = '', written] = match;
      plain += text.slice(from, match.index);
      const start = Buffer.byteLength(plain);
      if (star === '*') target = { path, nameStart: start, name };
      expected.push(`${path}@${start} ${written ?? newName}`);
      plain += name;
      from = match.index + whole.length;
    }
    texts[path] = plain + text.slice(from);
  }
  assert.ok(target, 'one token must be marked with a star');
  return { files: memoryFiles(texts), texts, target, expected: expected.sort() };
}

export function memoryFiles(texts: Readonly<Record<string, string>>): ProjectFiles {
  const bytes = new Map(Object.entries(texts).map(([path, text]) => [path, Buffer.from(text)]));
  return { exists: (path) => bytes.has(path), read: (path) => bytes.get(path), list: () => [...bytes.keys()] };
}

export interface RenameCase {
  readonly title: string;
  readonly files: Readonly<Record<string, string>>;
  readonly newName?: string;
  /** `path:line kind` */
  readonly residual?: readonly string[];
  /** `path:line kind` */
  readonly conflicts?: readonly string[];
}

/** Plans the rename and compares edits, residual and conflicts with what the case says; all of them count. */
export async function checkRename(engine: Engine, one: RenameCase): Promise<void> {
  const { newName = 'renamed' } = one;
  const { files, target, expected } = readMarked(one.files, newName);
  const plan = await planRename({ files, engine, target, newName });
  assert.deepEqual(
    {
      refused: plan.refused,
      edits: plan.edits.map(({ path, start, newText }) => `${path}@${start} ${newText}`).sort(),
      residual: plan.residual.map(({ path, line, kind }) => `${path}:${line} ${kind}`),
      conflicts: plan.conflicts.map(({ path, line, kind }) => `${path}:${line} ${kind}`),
    },
    { refused: undefined, edits: expected, residual: one.residual ?? [], conflicts: one.conflicts ?? [] },
  );
}

/** Plans a rename that must be refused; the star says of what. */
export async function refusalOf(
  engine: Engine,
  marked: Readonly<Record<string, string>>,
  newName = 'renamed',
): Promise<string | undefined> {
  const { files, target } = readMarked(marked, newName);
  const plan = await planRename({ files, engine, target, newName });
  if (plan.refused !== undefined) assert.deepEqual(plan.edits, []);
  return plan.refused?.reason;
}
