/**
 * Words that this project does not use, each with the plain one; see docs/glossary.md. Checked are texts of the shipped
 * sources, and in all sources the comments and the titles of tests. There is no list of exceptions.
 */
import type { Finding } from './finding.ts';
import type { SourceFile, Tree } from './read-tree.ts';
import type { StringLiteral } from './scan-source.ts';

type Words = readonly (readonly [RegExp, string])[];

const WORDS: Words = [
  [/\bmend(?:s|ed|ing)?\b/i, 'fix'],
  [/\bwhoever\b/i, 'name the person or program'],
  [/\bunless (?:said|told)\b/i, 'by default'],
  [/\bwalled(?: in)?\b/i, 'sandboxed'],
  [/\bbehind (?:a|the|its) wall\b/i, 'in a sandbox'],
];

/** Fine in a message that quotes a person, and not in what engineers write for each other. */
const VOICE: Words = [
  [/\b(?:no|any|every|some)body\b/i, 'name the person or program'],
  [/\bwalls?\b(?![- ](?:time|clock))/i, 'sandbox'],
  [/\bdoors?\b/i, 'entrance'],
  [/\bbesides\b/i, 'in addition to'],
  [/\bthat (?:is|are) none\b/i, 'malformed, invalid'],
  [/\blets? go of\b/i, 'release, drop, close'],
  [/\bhanded\b|\bhands? (?:over|on|out)\b(?<!by hand on)/i, 'pass, give, return'],
  [/\bstands? (?:there|at|beside)\b/i, 'is'],
];

const TITLE = /(?:(?<![.\w])(?:test|describe|suite)|\bt\.test)\($/;

export function checkPlainWords(tree: Tree): Finding[] {
  return tree.sources.flatMap((file) => [
    ...(isShipped(file) ? judge(file, 'text', file.strings, WORDS) : []),
    ...judge(file, 'comment', file.comments, [...WORDS, ...VOICE]),
    ...judge(file, 'title', titlesIn(file), [...WORDS, ...VOICE]),
  ]);
}

function judge(file: SourceFile, kind: string, texts: readonly StringLiteral[], words: Words): Finding[] {
  return texts.flatMap(({ offset, value }) =>
    words.flatMap(([word, plain]) => {
      const found = word.exec(value);
      if (found === null) return [];
      return {
        level: 'fail' as const,
        check: 'plain-words',
        file: file.path,
        line: file.lineAt(offset + found.index),
        what: `A ${kind} uses "${found[0]}"`,
        next: `Say it plainly: ${plain}`,
      };
    }),
  );
}

function titlesIn(file: SourceFile): StringLiteral[] {
  return file.strings.filter(({ offset }) => TITLE.test(file.code.slice(Math.max(0, offset - 12), offset)));
}

function isShipped(file: SourceFile): boolean {
  return /^packages\/[^/]+\/src\//.test(file.path) && !file.isTest;
}
