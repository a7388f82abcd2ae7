/**
 * code.todo.blockers: lines that go to a protected branch leave no TODO or FIXME behind.
 *
 * Only lines that are added count: what was there before is not this change's fault. A detached HEAD is on no branch.
 */
import type { ChangedFile, ChangeSet } from '../contracts/git.ts';
import { defineRule, type Violation } from '../contracts/rule.ts';
import { compileGlobs } from '../glob/match-glob.ts';
import { decodeText, detectEncoding } from '../text/encoding.ts';

const MAX_VIOLATIONS = 100;

export const codeTodoBlockers = defineRule({
  id: 'code.todo.blockers',
  category: 'Hygiene',
  description: 'No TODO or FIXME in changed lines on protected branches',
  phase: 'on-commit',
  trigger: 'on commit',
  defaultEnforcement: 'blocking',
  byContent: true,
  appliesTo: ({ git }) => git !== undefined,
  async check(_subject, context) {
    const changes = await context.changeSet();
    const { branch } = changes;
    if (branch === undefined || !compileGlobs(context.registry.protectedBranches)(branch)) return [];
    const marked = await markedLines(changes);
    if (marked.size === 0) return [];
    const added = await changes.addedLines([...marked.keys()]);
    const isAdded = new Set(added.map(({ path, line }) => `${line} ${path}`));
    return [...marked]
      .flatMap(([{ path }, lines]) => lines.map((line) => ({ ...line, path })))
      .filter(({ path, line }) => isAdded.has(`${line} ${path}`))
      .slice(0, MAX_VIOLATIONS)
      .map((found) => violation(found, branch));
  },
});

interface MarkedLine {
  readonly line: number;
  readonly mark: string;
}

async function markedLines(changes: ChangeSet): Promise<ReadonlyMap<ChangedFile, readonly MarkedLine[]>> {
  const marked = new Map<ChangedFile, readonly MarkedLine[]>();
  const candidates = changes.files.filter(({ kind, mode }) => kind !== 'unchanged' && mode !== '120000');
  for await (const { file, bytes } of changes.contents(candidates)) {
    const { encoding } = detectEncoding(bytes);
    const text = encoding === 'binary' ? undefined : decodeText(bytes, encoding);
    const lines = text === undefined || findMark(text) === undefined ? [] : findMarks(text);
    if (lines.length > 0) marked.set(file, lines);
  }
  return marked;
}

/** As a word of its own, in capitals, which is how people write the mark and not the word. */
function findMark(text: string): string | undefined {
  return /(?<![\p{L}\p{N}_])(?:TODO|FIXME)(?![\p{L}\p{N}_])/u.exec(text)?.[0];
}

/** Lines as git counts them: a line feed ends one, and nothing else does. */
function findMarks(text: string): readonly MarkedLine[] {
  return text.split('\n').flatMap((line, index) => {
    const mark = findMark(line);
    return mark === undefined ? [] : [{ line: index + 1, mark }];
  });
}

function violation({ path, line, mark }: MarkedLine & { readonly path: string }, branch: string): Violation {
  return {
    message: `${mark} on a protected branch: ${path}:${line}`,
    path,
    line,
    next: `finish it, move it to the issue tracker, or commit on another branch than ${branch}`,
    details: { mark, branch },
  };
}
