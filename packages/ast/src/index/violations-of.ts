/** Syntax errors of a file as findings of a rule. A file that could not be parsed is not known to be right. */
import type { Violation } from '@tool-runtime/sdk';
import type { CurrentProblems } from './current-file.ts';

export function violationsOf({ path, found, skip }: CurrentProblems): readonly Violation[] {
  if (found === undefined) {
    return [
      {
        message: `File cannot be parsed: ${path}`,
        path,
        next: 'make it smaller or plain text, or lower the rule in the registry',
        details: { reason: skip ?? 'unknown' },
      },
    ];
  }
  return found.problems.map(({ kind, span, line, col, message }) => ({
    message: `${message}: ${path}:${line}:${col}`,
    path,
    line,
    details: { kind, col, start: span.start, end: span.end, problems: found.problemCount },
  }));
}
