/** Every source says at its top what it owns; every test is beside the source it is named after. */
import type { Finding } from './finding.ts';
import type { SourceFile, Tree } from './read-tree.ts';

const SMALL = 12;

export function checkFilePlaces(tree: Tree): Finding[] {
  return tree.sources.flatMap((file) => (file.isTest ? judgeTest(tree, file) : judgeHeader(file)));
}

function judgeHeader(file: SourceFile): Finding[] {
  const start = file.text.replace(/^#!.*\n/, '').trimStart();
  if (file.lineCount < SMALL || start.startsWith('/*') || start.startsWith('//')) return [];
  return [fail(file.path, 'No header comment', 'Say in one to six lines what the file owns and what surprises')];
}

function judgeTest(tree: Tree, file: SourceFile): Finding[] {
  if (/(?:^|\/)test\//.test(file.path)) return [];
  const subject = file.path.replace(/(?:\.deep)?\.test(\.\w+)$/, '$1');
  if (tree.has(subject)) return [];
  return [
    fail(file.path, `No ${subject} beside this test`, 'Rename it after its source, or move it to a test/ folder'),
  ];
}

function fail(file: string, what: string, next: string): Finding {
  return { level: 'fail', check: 'file-places', file, what, next };
}
