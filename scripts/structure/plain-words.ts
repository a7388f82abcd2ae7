/** Words that messages, help texts and descriptions do not use, with the plain one; see docs/glossary.md. */
import type { Finding } from './finding.ts';
import type { Tree } from './read-tree.ts';

const WORDS: readonly (readonly [RegExp, string])[] = [
  [/\bmend(?:s|ed|ing)?\b/, 'fix'],
  [/\bwhoever\b/, 'name the person or program'],
  [/\bunless said\b/, 'by default'],
  [/\bwalled(?: in)?\b/, 'sandboxed'],
  [/\bbehind (?:a|the|its) wall\b/, 'in a sandbox'],
];

export function checkPlainWords(tree: Tree): Finding[] {
  const shipped = tree.sources.filter((file) => /^packages\/[^/]+\/src\//.test(file.path) && !file.isTest);
  return shipped.flatMap((file) =>
    file.strings.flatMap(({ offset, value }) =>
      WORDS.filter(([word]) => word.test(value)).map(([word, plain]) => ({
        level: 'fail' as const,
        check: 'plain-words',
        file: file.path,
        line: file.lineAt(offset),
        what: `A text uses "${word.exec(value)?.[0]}"`,
        next: `Say it plainly: ${plain}`,
      })),
    ),
  );
}
