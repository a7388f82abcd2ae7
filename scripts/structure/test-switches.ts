/** A test that is switched off looks green, and so does one that neither the fast nor the deep suite reaches. */
import type { Finding } from './finding.ts';
import type { SourceFile, Tree } from './read-tree.ts';

const SWITCHES = [
  /\.(?:skip|only|todo)\s*\(/g,
  /\b(?:skip|todo)\s*:\s*(?:true\b|!|process\b|['"`])/g,
  /\bonly\s*:\s*true\b/g,
];

/** The fast suite leaves it out, and the deep one never gets there: its parent has no mark. */
const LOST = /\.test\(\s*(['"`])[^\n]*\(deep\)\1/g;

export function checkTestSwitches(tree: Tree): Finding[] {
  const tests = tree.sources.filter((file) => file.isTest || /(?:^|\/)test\//.test(file.path));
  return [...findSwitches(tests), ...findLost(tests)];
}

function findLost(tests: readonly SourceFile[]): Finding[] {
  return tests.flatMap((file) =>
    [...file.text.matchAll(LOST)].map((match) => ({
      level: 'fail' as const,
      check: 'test-switches',
      file: file.path,
      line: file.lineAt(match.index),
      what: 'A subtest marked (deep) runs in neither suite',
      next: 'Mark the test around it, or make it a test of its own',
    })),
  );
}

function findSwitches(tests: readonly SourceFile[]): Finding[] {
  return tests.flatMap((file) =>
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
