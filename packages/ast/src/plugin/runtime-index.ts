/**
 * The part of the engine that the call pipeline uses: sync after a change, and what blocks a change.
 *
 * A change is measured by what it makes worse: errors that were in the file before do not hold it up, and a file nobody
 * has looked at before counts as one that had none.
 */
import type { AstIndex, Violation } from '@tool-runtime/sdk';
import type { CodeIndex } from '../contracts/code-index-contract.ts';
import type { CodeServices } from './code-services.ts';

export function createRuntimeIndex(services: CodeServices): AstIndex {
  return {
    covers: services.covers,
    refresh: (changes, signal) => services.follow(changes, signal),
    catchUp: (signal) => services.catchUp(signal),
    async parseProblems(path, signal, options = {}) {
      const index = await services.index();
      const problems = await index.parseProblems(path, signal);
      return problems.length === 0 || options.isNew === true ? problems : grown(path, problems, index);
    },
  };
}

/** None when there are no more of them than before the last change. */
function grown(path: string, problems: readonly Violation[], index: CodeIndex): readonly Violation[] {
  const before = index.problemsBefore(path);
  if (before === undefined) return problems.map(withRetry);
  const now = index.fileRow(path)?.problems ?? problems.length;
  if (now <= before) return [];
  return problems.map((problem) => ({ ...problem, details: { ...problem.details, problems_before: before } }));
}

/** When the change is taken back the file becomes known as it was, so the second attempt is measured by what it adds. */
function withRetry(problem: Violation): Violation {
  return {
    ...problem,
    next:
      problem.next ??
      'fix the syntax; if the errors were there before, make the same change again: they are known then',
  };
}
