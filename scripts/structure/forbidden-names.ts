/** Names that say nothing about what is inside. */
import type { Finding } from './finding.ts';
import type { Tree } from './read-tree.ts';

const EMPTY_WORDS = new Set(['util', 'utils', 'helper', 'helpers', 'misc', 'common', 'shared', 'manager']);
const INDEX_ALLOWED = /^packages\/[^/]+\/src\/(?:testing\/)?index\.ts$/;

export function checkForbiddenNames(tree: Tree): Finding[] {
  return tree.sources.flatMap(({ path }) => {
    const findings: Finding[] = [];
    const word = path.split(/[/.-]/).find((part) => EMPTY_WORDS.has(part));
    if (word !== undefined) findings.push(fail(path, `Empty name: ${word}`, 'Name the file for the one thing it does'));
    if (/(?:^|\/)index\.[a-z]+$/.test(path) && !INDEX_ALLOWED.test(path)) {
      findings.push(fail(path, 'An index.ts that is no package entry', 'Import the files themselves'));
    }
    return findings;
  });
}

function fail(file: string, what: string, next: string): Finding {
  return { level: 'fail', check: 'forbidden-names', file, what, next };
}
