/** A list of guards must not rot: each entry names code that occurs once in its file, and tests that exist. */
import { type Guard, type GuardTest, isGuardList, parseGuards, shownTest } from '../mutation/guard.ts';
import type { Finding } from './finding.ts';
import type { TextFile, Tree } from './read-tree.ts';

export function checkGuardLists(tree: Tree): Finding[] {
  const seen = new Set<string>();
  return tree.texts.filter(({ path }) => isGuardList(path)).flatMap((list) => judgeList(tree, list, seen));
}

function judgeList(tree: Tree, list: TextFile, seen: Set<string>): Finding[] {
  const { guards, problem } = parseGuards(list.path, list.text);
  if (problem !== undefined) return [fail(list, undefined, `No list of guards: ${problem}`, 'Correct the entry')];
  return guards.flatMap((guard) => {
    const findings = judgeGuard(tree, list, guard);
    if (seen.has(guard.id)) findings.push(fail(list, guard, `Id used twice: ${guard.id}`, 'Choose another'));
    seen.add(guard.id);
    return findings;
  });
}

function judgeGuard(tree: Tree, list: TextFile, guard: Guard): Finding[] {
  const findings: Finding[] = [];
  const source = tree.text(guard.file);
  const times = source === undefined ? 0 : source.split(guard.find).length - 1;
  if (times !== 1) {
    const what = `The code of ${guard.id} occurs ${times} times in ${guard.file}`;
    findings.push(fail(list, guard, what, 'Follow the check to where it is now, or remove the entry with the check'));
  }
  if (guard.find === guard.replace) {
    findings.push(fail(list, guard, `${guard.id} changes nothing`, 'Write the code without the check'));
  }
  for (const test of guard.tests.filter((one) => !isThere(tree, one))) {
    const next = 'Name the test that fails without the check';
    findings.push(fail(list, guard, `No test for ${guard.id}: ${shownTest(test)}`, next));
  }
  return findings;
}

function isThere(tree: Tree, { file, name = '' }: GuardTest): boolean {
  return file.endsWith('.test.ts') && tree.text(file)?.includes(name) === true;
}

function fail(list: TextFile, guard: Guard | undefined, what: string, next: string): Finding {
  const at = guard === undefined ? -1 : list.text.lastIndexOf(`"${guard.id}"`);
  const line = at < 0 ? {} : { line: list.text.slice(0, at).split('\n').length };
  return { level: 'fail', check: 'guard-lists', file: list.path, ...line, what, next };
}
