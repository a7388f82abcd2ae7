/**
 * A plan without conflicts, applied, changes no meaning: every name of the project still leads where it led before. The new
 * names are those the projects are full of, so most plans meet one; those with conflicts are not applied.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import { familyOf } from '../../src/scope/modules/catalog.ts';
import { planRename } from '../../src/scope/rename/plan-rename.ts';
import type { RenameEdit, RenameTarget } from '../../src/scope/rename/rename-plan.ts';
import type { ProjectFiles } from '../../src/scope/scope-model.ts';
import { openScopeProject } from '../../src/scope/scope-project.ts';
import { createEngine } from '../../src/symbols/engine.ts';
import { generatePython } from './generate-python.ts';
import { generateTypeScript } from './generate-typescript.ts';
import { memoryFiles } from './marked-project.ts';

const engine = createEngine();
after(() => engine.delete());

const tapes = fc.array(fc.nat({ max: 9_999 }), { minLength: 120, maxLength: 120 });
const NAMES = ['alpha', 'beta', 'gamma', 'Delta', 'Epsilon', 'fresh'];

type Texts = Readonly<Record<string, string>>;

/** Where every name leads: place of a token → place of the first declaration of what it means, or nothing. */
async function meanings(files: ProjectFiles, language: string): Promise<Map<string, string>> {
  const family = familyOf(language);
  assert.ok(family);
  const project = await openScopeProject({ files, engine, languages: family.languages });
  const system = family.create(project, files);
  const found = new Map<string, string>();
  for (const path of project.paths) {
    const file = project.file(path);
    for (const token of file?.scopes.tokens ?? []) {
      const last = file && system.meaningOf(file, token)?.steps.at(-1);
      const first = last?.binding.definitions[0];
      found.set(`${path}@${token.start}`, last && first ? `${last.path}@${first.start}` : 'nowhere');
    }
  }
  return found;
}

async function definitionsOf(files: ProjectFiles, language: string): Promise<RenameTarget[]> {
  const family = familyOf(language);
  assert.ok(family);
  const project = await openScopeProject({ files, engine, languages: family.languages });
  return project.paths.flatMap((path) => {
    const tokens = project.file(path)?.scopes.tokens ?? [];
    const defined = tokens.filter(({ role, binding }) => role === 'definition' && binding?.scope.kind !== 'class');
    return defined.map(({ start, name }) => ({ path, nameStart: start, name }));
  });
}

function apply(texts: Texts, edits: readonly RenameEdit[]): Record<string, string> {
  const changed = { ...texts };
  for (const { path, start, end, newText } of edits.toSorted((left, right) => right.start - left.start)) {
    const text = changed[path] ?? '';
    changed[path] = text.slice(0, start) + newText + text.slice(end);
  }
  return changed;
}

/** Where a token stands afterwards. Of `old: new` it is the part that still is the variable. */
function moved(place: string, edits: readonly RenameEdit[], newName: string): string {
  if (place === 'nowhere') return place;
  const at = place.lastIndexOf('@');
  const [path, start] = [place.slice(0, at), Number(place.slice(at + 1))];
  let offset = start;
  for (const edit of edits) {
    if (edit.path !== path || edit.start > start) continue;
    if (edit.start < start) offset += edit.newText.length - (edit.end - edit.start);
    else {
      const keepsVariable =
        (edit.role === 'import' || edit.role === 'shorthand') && edit.newText.startsWith(`${newName}`);
      const separator = /: | as /.exec(edit.newText);
      if (separator === null || edit.role === 'export') continue;
      if (keepsVariable || edit.newText.endsWith(newName)) offset += separator.index + separator[0].length;
    }
  }
  return `${path}@${offset}`;
}

async function check(texts: Texts, language: string, choice: number): Promise<'applied' | 'conflict' | 'refused'> {
  const files = memoryFiles(texts);
  const targets = await definitionsOf(files, language);
  const target = targets[choice % targets.length];
  const newName = NAMES[choice % NAMES.length] ?? 'fresh';
  if (target === undefined) return 'refused';
  const plan = await planRename({ files, engine, target, newName });
  if (plan.refused !== undefined) return 'refused';
  if (plan.conflicts.length > 0) return 'conflict';
  const before = await meanings(files, language);
  const afterwards = await meanings(memoryFiles(apply(texts, plan.edits)), language);
  for (const [place, meaning] of before) {
    const expected = moved(meaning, plan.edits, newName);
    const found = afterwards.get(moved(place, plan.edits, newName));
    assert.equal(found, expected, `${place} after ${target.name} of ${target.path} became ${newName}`);
  }
  return 'applied';
}

describe('a plan without conflicts changes no meaning [S0-54]', () => {
  const cases: readonly (readonly [string, string, (tape: readonly number[]) => Texts])[] = [
    ['TypeScript', 'typescript', generateTypeScript],
    ['Python', 'python', (tape) => generatePython('p', tape)],
  ];
  for (const [title, language, generate] of cases) {
    test(`in random projects of ${title}`, async (t) => {
      const counts = { applied: 0, conflict: 0, refused: 0 };
      await fc.assert(
        fc.asyncProperty(tapes, fc.array(fc.nat(), { minLength: 6, maxLength: 6 }), async (tape, wanted) => {
          const texts = generate(tape);
          for (const choice of wanted) counts[await check(texts, language, choice)]++;
        }),
        { numRuns: 40 },
      );
      t.diagnostic(JSON.stringify(counts));
      assert.ok(counts.applied > 40 && counts.conflict > 10);
    });
  }
});
