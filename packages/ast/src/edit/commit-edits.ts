/** Takes a change over into a draft when it leaves the file at least as sound as it was. */
import type { ToolError } from '@tool-runtime/protocol';
import type { FileFacts } from '../contracts/facts.ts';
import type { Draft, Trial } from './draft.ts';
import { refuseEdit } from './edit-failures.ts';
import type { TextEdit } from './text-edit.ts';

/** What a change must keep in addition to syntax. Returns what is wrong, or undefined. */
export type TrialCheck = (trial: Trial, edits: readonly TextEdit[]) => ToolError | undefined;

export interface CommitOptions {
  /** Said to people, not refused: the language's grammar reports errors in sound code. */
  warn(warning: string): void;
  readonly check?: TrialCheck;
}

/** Throws E_AST_EDIT with `breaks_syntax`, or what `check` says; the draft is then as before. */
export function commitEdits(draft: Draft, edits: readonly TextEdit[], options: CommitOptions): void {
  commitFirst(draft, [edits], options);
}

/** Takes the first of several ways to write the same change that passes; throws what was wrong with the first. */
export function commitFirst(
  draft: Draft,
  ways: readonly (readonly TextEdit[])[],
  { warn, check = keepsDeclarations(draft) }: CommitOptions,
): void {
  let first: ToolError | undefined;
  for (const edits of ways) {
    const trial = draft.attempt(edits);
    const wrong = brokenSyntax(draft, trial.facts) ?? check(trial, edits);
    if (wrong === undefined) {
      if (draft.profile.errors === 'advisory' && trial.facts.problemCount > draft.facts.problemCount) {
        warn(`${draft.path}: the parser reports more problems than before, which may be wrong for this language`);
      } else if (draft.profile.errors !== 'advisory' && trial.facts.problemCount > 0) {
        const [problem] = trial.facts.problems;
        warn(`${draft.path} does not parse, and did not before: line ${problem?.line}: ${problem?.message}`);
      }
      draft.adopt(trial);
      return;
    }
    draft.discard(trial);
    first ??= wrong;
  }
  if (first !== undefined) throw first;
}

/** The number of problems must not grow. */
function brokenSyntax({ path, facts, profile }: Draft, after: FileFacts): ToolError | undefined {
  if (profile.errors === 'advisory' || after.problemCount <= facts.problemCount) return undefined;
  const known = new Set(facts.problems.map(({ message }) => message));
  const problem = after.problems.find(({ message }) => !known.has(message)) ?? after.problems[0];
  const where = problem === undefined ? '' : `, line ${problem.line}: ${problem.message}`;
  return refuseEdit('breaks_syntax', `Edit would break the syntax of a file: ${path}${where}`, {
    path,
    next: 'fix the new text and try again',
    details: {
      problems_before: facts.problemCount,
      problems_after: after.problemCount,
      ...(problem === undefined ? {} : { line: problem.line, col: problem.col }),
    },
  });
}

/** Every declaration is still there, those inside of a replaced range aside (in bytes of the draft as it is). */
export function keepsDeclarations(
  draft: Draft,
  replaced?: { readonly start: number; readonly end: number },
): TrialCheck {
  return ({ facts }) => {
    const left = new Set(facts.nodes.map((node) => node.id));
    const lost = draft.facts.nodes.find(({ id, span }) => {
      if (left.has(id)) return false;
      return replaced === undefined || span.start < replaced.start || span.end > replaced.end;
    });
    if (lost === undefined) return undefined;
    return refuseEdit('swallows_declarations', `Edit would swallow a declaration: ${lost.name} in ${draft.path}`, {
      path: draft.path,
      next: 'look for an open bracket, string or comment in the new text',
      details: { name: lost.name, line: lost.line },
    });
  };
}
