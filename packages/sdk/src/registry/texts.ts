/** The kinds of text a registry holds, each judged by itself with a message that says what to write instead. */
import { isToolError, utf8Length } from '@tool-runtime/protocol';
import { z } from 'zod';
import { compileGlob } from '../glob/match-glob.ts';
import { allowlistPatternProblem, compileAllowlistPattern, patternProblem } from '../pattern/compile-pattern.ts';
import { excerpt } from '../pattern/excerpt.ts';
import { readDomain } from './domains.ts';

const MAX_COMMAND_BYTES = 8192;

function checkedText(problemOf: (text: string) => string | undefined): z.ZodString {
  return z.string().superRefine((text, context) => {
    const message = problemOf(text);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

function globProblem(text: string): string | undefined {
  try {
    compileGlob(text);
    return undefined;
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const why = thrown.details['why'];
    return typeof why === 'string' ? `${thrown.message} (${why})` : thrown.message;
  }
}

function domainProblem(text: string): string | undefined {
  const reading = readDomain(text);
  return 'problem' in reading ? reading.problem : undefined;
}

function nameProblem(text: string): string | undefined {
  return /^[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}$/.test(text) ? undefined : `Not a plain name: ${excerpt(text)}`;
}

/** Commands go through the shell filter later, which knows no second line. */
function commandProblem(text: string): string | undefined {
  if (text.trim() === '') return 'Command is empty';
  if (utf8Length(text) > MAX_COMMAND_BYTES) return `Command is longer than ${MAX_COMMAND_BYTES} bytes`;
  return /[\u0000-\u001f\u007f]/.test(text) ? `Command is not one plain line: ${excerpt(text)}` : undefined;
}

/** Not repeated in the message: who mistakes the list for one of values would see a secret in it. */
function hashProblem(text: string): string | undefined {
  const isHash = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
  return isHash ? undefined : 'Not a hash: write 40 or 64 hex digits in lower case';
}

export const globText = checkedText(globProblem);
export const domainText = checkedText(domainProblem);
export const nameText = checkedText(nameProblem);
export const commandText = checkedText(commandProblem);
export const hashText = checkedText(hashProblem);
export const patternText = checkedText(patternProblem);
export const shellPatternText = checkedText(allowlistPatternProblem);

interface ShellExamples {
  readonly pattern: string;
  readonly match: readonly string[];
  readonly not_match: readonly string[];
}

interface ExampleProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/** Examples written beside a pattern that it does not live up to. A pattern that is bad itself has its own problem. */
export function examplesProblem(entry: ShellExamples): readonly ExampleProblem[] {
  if (allowlistPatternProblem(entry.pattern) !== undefined) return [];
  const pattern = compileAllowlistPattern(entry.pattern);
  return (['match', 'not_match'] as const).flatMap((key) =>
    entry[key].flatMap((example, index) => {
      if (pattern.test(example) === (key === 'match')) return [];
      const verb = key === 'match' ? 'does not allow its example' : 'allows what it must not';
      return [{ path: [key, index], message: `Pattern ${verb}: ${excerpt(example)}` }];
    }),
  );
}
