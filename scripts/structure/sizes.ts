/** How large files, import lists, parameter lists and lines of comments may become. There is no exemption list; split along a noun. */
import path from 'node:path';
import { countParameters } from './count-parameters.ts';
import type { Finding } from './finding.ts';
import { SCOPE } from './packages.ts';
import type { SourceFile, Tree } from './read-tree.ts';

const SOURCE_LINES = { warn: 250, fail: 400 };
const TEST_LINES = { warn: 800, fail: 800 };
const OWN_IMPORTS = 20;
const PARAMETERS = 5;
/** The formatter leaves comments alone. */
const COMMENT_LINE = 132;
/** Files whose job is to know many others. */
const HUBS: readonly string[] = [
  'pipeline.ts',
  'runtime.ts',
  'wire-parts.ts',
  'run-chaos.ts',
  'catalog.ts',
  'index.ts',
  'parts.ts',
];

export function checkSizes(tree: Tree): Finding[] {
  return tree.sources.flatMap((file) => [
    ...judgeLines(file),
    ...judgeImports(file),
    ...judgeParameters(file),
    ...judgeComments(file),
  ]);
}

function judgeLines(file: SourceFile): Finding[] {
  const limits = file.isTest ? TEST_LINES : SOURCE_LINES;
  if (file.lineCount <= limits.warn) return [];
  const level = file.lineCount > limits.fail ? 'fail' : 'warn';
  const what = `${file.lineCount} lines, more than ${level === 'fail' ? limits.fail : limits.warn}`;
  return [{ level, check: 'sizes', file: file.path, what, next: 'Split it along a noun' }];
}

function judgeImports(file: SourceFile): Finding[] {
  if (file.isTest || HUBS.includes(path.posix.basename(file.path))) return [];
  // Types cost nothing at run time and say what a file touches: only what it loads counts.
  const own = file.imports.filter(
    ({ specifier, kind }) => kind !== 'type' && (specifier.startsWith('.') || specifier.startsWith(SCOPE)),
  );
  if (own.length <= OWN_IMPORTS) return [];
  const what = `${own.length} imports of our own code, more than ${OWN_IMPORTS}`;
  return [{ level: 'fail', check: 'sizes', file: file.path, what, next: 'The file does too much: split it' }];
}

function judgeParameters(file: SourceFile): Finding[] {
  return countParameters(file.code)
    .filter(({ count }) => count > PARAMETERS)
    .map(({ count, offset }) => ({
      level: 'fail',
      check: 'sizes',
      file: file.path,
      line: file.lineAt(offset),
      what: `A function with ${count} parameters, more than ${PARAMETERS}`,
      next: 'Gather them in one object with names',
    }));
}

function judgeComments(file: SourceFile): Finding[] {
  const first = file.comments.map(({ offset }) => file.lineAt(offset));
  return file.comments.flatMap(({ value }, at) =>
    value.split('\n').flatMap((text, line): Finding[] => {
      if (text.length <= COMMENT_LINE) return [];
      const what = `A line of a comment with ${text.length} characters, more than ${COMMENT_LINE}`;
      const place = { file: file.path, line: (first[at] ?? 0) + line };
      return [{ level: 'fail', check: 'sizes', ...place, what, next: 'Wrap it' }];
    }),
  );
}
