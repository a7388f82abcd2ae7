/** Takes one check out of a copy of the sources and sees which test notices. */
import { readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { type Guard, shownTest } from './guard.ts';
import { runTestFile } from './run-test-file.ts';
import type { WorkCopy } from './work-copy.ts';

export type Verdict =
  | { readonly kind: 'killed'; readonly file: string; readonly test: string }
  | { readonly kind: 'survived' }
  /** The entry says nothing: without the check the code does not load, or a test file does not run. */
  | { readonly kind: 'invalid'; readonly reason: string };

export async function tryGuard(guard: Guard, copy: WorkCopy): Promise<Verdict> {
  const file = path.join(copy.folder, guard.file);
  const source = readFileSync(file, 'utf8');
  const [before, after, ...more] = source.split(guard.find);
  if (after === undefined || more.length > 0) return { kind: 'invalid', reason: 'its code does not stand once' };
  const without = `${before}${guard.replace}${after}`;
  const problem = syntaxProblem(without);
  if (problem !== undefined) return { kind: 'invalid', reason: problem };
  writeFileSync(file, without);
  try {
    return await firstFailure(guard, copy);
  } finally {
    writeFileSync(file, source);
  }
}

/** A file that does not parse is what some tests expect of the process they start: it must not count as a kill. */
function syntaxProblem(source: string): string | undefined {
  try {
    stripTypeScriptTypes(source);
    return undefined;
  } catch (thrown) {
    return `does not parse: ${String(thrown)}`;
  }
}

async function firstFailure(guard: Guard, copy: WorkCopy): Promise<Verdict> {
  for (const test of guard.tests) {
    const outcome = await runTestFile(test, copy);
    if (outcome.kind === 'failed') return { kind: 'killed', file: test.file, test: outcome.test };
    if (outcome.kind === 'broken') return { kind: 'invalid', reason: `${shownTest(test)}: ${outcome.reason}` };
  }
  return { kind: 'survived' };
}
