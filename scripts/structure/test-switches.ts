/** A test that is switched off looks green. */
import type { Finding } from './finding.ts';
import type { Tree } from './read-tree.ts';

const SWITCHES = [
  /\.(?:skip|only|todo)\s*\(/g,
  /\b(?:skip|todo)\s*:\s*(?:true\b|!|process\b|['"`])/g,
  /\bonly\s*:\s*true\b/g,
];

export function checkTestSwitches(tree: Tree): Finding[] {
  return tree.sources
    .filter((file) => file.isTest || /(?:^|\/)test\//.test(file.path))
    .flatMap((file) =>
      SWITCHES.flatMap((pattern) => [...file.code.matchAll(pattern)]).map((match) => ({
        level: 'fail' as const,
        check: 'test-switches',
        file: file.path,
        line: file.lineAt(match.index),
        what: `A test is switched off or singled out: ${match[0].trim()}`,
        next: 'Fix it or delete it; scripts/setup-system installs what the machine lacks',
      })),
    );
}
