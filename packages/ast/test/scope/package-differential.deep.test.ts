/**
 * The resolver against TypeScript 7 on ten released packages: what a rename would edit and what counts as a reference.
 * A place that only one of the two has fails, unless its reason is listed or, for renames, the compiler finds nothing wrong
 * after the plan was carried out. A plan that is refused is no wrong plan.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findReferences } from '../../src/scope/find-references.ts';
import { planRename } from '../../src/scope/rename/plan-rename.ts';
import type { RenamePlan, RenameTarget } from '../../src/scope/rename/rename-plan.ts';
import type { ProjectFiles } from '../../src/scope/scope-model.ts';
import { createEngine } from '../../src/symbols/engine.ts';
import { diskFiles, exportedIn, TS_PROJECT, write } from './disk-project.ts';
import { LanguageServerClient } from './language-server-client.ts';
import {
  describeTally,
  differences,
  explain,
  inComment,
  newTally,
  pastTheList,
  type Reason,
  wrongSide,
} from './rename-comparison.ts';

const MODULES = fileURLToPath(new URL('../../../../node_modules', import.meta.url));
const PACKAGES: readonly (readonly [string, string])[] = [
  ['ai', 'src'],
  ['openai', 'src'],
  ['@anthropic-ai/sdk', 'src'],
  ['@ai-sdk/provider-utils', 'src'],
  ['@ai-sdk/gateway', 'src'],
  ['@ai-sdk/provider', 'src'],
  ['@posthog/core', 'src'],
  ['posthog-node', 'src'],
  ['ajv', 'lib'],
  ['jsonpath-rfc9535', 'src'],
];
const TARGETS = 8;
const NEW_NAME = 'renamedByTest';
const REASONS: readonly Reason[] = [inComment, wrongSide, pastTheList];
const judged: Reason = { name: 'the compiler accepts the plan as it is', explains: () => true };

describe('the resolver and TypeScript 7 on released packages [S0-54]', () => {
  const engine = createEngine();
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'packages-')));
  const server = new LanguageServerClient('tsc', ['--lsp', '--stdio'], root);
  const started = server.start();
  after(async () => {
    await server.stop();
    await engine.delete();
    rmSync(root, { recursive: true, force: true });
  });

  for (const [name, source] of PACKAGES) {
    test(`agree on ${name}`, { timeout: 600_000 }, async (t) => {
      await started;
      const folder = name.replaceAll('/', '-');
      mkdirSync(join(root, folder));
      write(join(root, folder), TS_PROJECT);
      cpSync(join(MODULES, name, source), join(root, folder, source), { recursive: true });
      const files = diskFiles(join(root, folder));
      const tally = newTally();
      let references = 0;
      const targets = await exportedIn(engine, files, new RegExp(`^${source}/`), TARGETS);
      assert.ok(targets.length >= TARGETS / 2, `${targets.length} targets`);
      for (const target of targets) {
        const plan = await planRename({ files, engine, target, newName: NEW_NAME });
        if (plan.refused === undefined) {
          const edits = (await server.rename(`${folder}/${target.path}`, target.nameStart, NEW_NAME)) ?? [];
          const own = edits.map((edit) => ({ ...edit, path: edit.path.slice(folder.length + 1) }));
          const found = differences(plan, own, files);
          const isJudged = found.some((one) => REASONS.every((reason) => !reason.explains(one, plan)));
          if (isJudged) assert.deepEqual(newErrors(join(root, folder), plan, target), [], target.name);
          explain(found, plan, isJudged ? [...REASONS, judged] : REASONS, tally);
        } else tally.refused++;
        references += await compareReferences(target, plan, files, folder);
      }
      t.diagnostic(`${describeTally(tally)}; ${references} references equal`);
      assert.ok(tally.compared > 0);
    });
  }

  /** How many there are; fails on one that only one of the two has. */
  async function compareReferences(
    target: RenameTarget,
    { residual }: RenamePlan,
    files: ProjectFiles,
    folder: string,
  ): Promise<number> {
    const found = await findReferences({ files, engine, target, withAliases: true });
    if (found.refused !== undefined) return 0;
    const theirs = await server.references(`${folder}/${target.path}`, target.nameStart);
    const own = new Set(found.references.map(({ path, start }) => `${folder}/${path}@${start}`));
    // Where a name is a type and a namespace, the server answers for the one that was asked about.
    const merged = found.references.filter(({ role }) => role === 'definition').length > 1;
    // Members of a namespace that lists the name: a rename reports them, for they keep the name they are listed under.
    const members = new Set(
      residual.filter(({ kind }) => kind === 'member').map(({ path, line }) => `${folder}/${path}:${line}`),
    );
    const unlike = [...own.symmetricDifference(theirs)].filter(
      (place) =>
        !isInComment(place) && !isExportedName(place) && !(merged && own.has(place)) && !members.has(lineOf(place)),
    );
    const shown = unlike.map((place) => `${own.has(place) ? 'resolver' : 'server'} alone: ${place} ${lineAt(place)}`);
    assert.deepEqual(shown, [], `${target.name} in ${target.path}`);
    return own.size;
  }

  function lineAt(place: string): string {
    const at = place.lastIndexOf('@');
    const bytes = readFileSync(join(root, place.slice(0, at)));
    const start = Number(place.slice(at + 1));
    const from = start === 0 ? 0 : bytes.lastIndexOf('\n', start - 1) + 1;
    const end = bytes.indexOf('\n', start);
    return bytes.subarray(from, end === -1 ? bytes.length : end).toString();
  }

  function lineOf(place: string): string {
    const at = place.lastIndexOf('@');
    const before = readFileSync(join(root, place.slice(0, at))).subarray(0, Number(place.slice(at + 1)));
    return `${place.slice(0, at)}:${before.toString().split('\n').length}`;
  }

  /** The name on the other side of `export { x as x }`, which is no use of `x`. */
  function isExportedName(place: string): boolean {
    const at = place.lastIndexOf('@');
    const text = readFileSync(join(root, place.slice(0, at))).subarray(0, Number(place.slice(at + 1)));
    return /\bas\s+$/.test(text.subarray(-20).toString());
  }

  /** The server reads names in doc comments; the resolver reports them apart. */
  function isInComment(place: string): boolean {
    return /^\s*(?:\/\*\*|\*)/.test(lineAt(place));
  }
});

/** What the compiler says after the plan was carried out and did not say before, without places. */
function newErrors(folder: string, { edits }: RenamePlan, { name }: RenameTarget): string[] {
  const before = compilerErrors(folder);
  const texts = new Map<string, Buffer>();
  for (const path of new Set(edits.map((edit) => edit.path))) texts.set(path, readFileSync(join(folder, path)));
  try {
    for (const [path, text] of texts) {
      const ofFile = edits.filter((edit) => edit.path === path).toSorted((one, other) => other.start - one.start);
      let changed = text;
      for (const { start, end, newText } of ofFile) {
        changed = Buffer.concat([changed.subarray(0, start), Buffer.from(newText), changed.subarray(end)]);
      }
      writeFileSync(join(folder, path), changed);
    }
    const left = [...before];
    return compilerErrors(folder).filter((error) => {
      const known = left.indexOf(error.replaceAll(NEW_NAME, name));
      if (known !== -1) left.splice(known, 1);
      return known === -1;
    });
  } finally {
    for (const [path, text] of texts) writeFileSync(join(folder, path), text);
  }
}

function compilerErrors(folder: string): string[] {
  const { stdout } = spawnSync(join(MODULES, '.bin/tsc'), ['--noEmit', '--pretty', 'false', '-p', folder], {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  return stdout.split('\n').flatMap((line) => /^(.*)\(\d+,\d+\): (error .*)$/.exec(line)?.slice(1).join(': ') ?? []);
}
