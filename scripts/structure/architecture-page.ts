/** docs/architecture.md against the tree: every folder and every stage of a call is on the page, and nothing that is gone. */
import path from 'node:path';
import type { Finding } from './finding.ts';
import type { Tree } from './read-tree.ts';

const PAGE = 'docs/architecture.md';
const TABLE = /^\| folder of `packages\/([\w-]+)\/src` \|[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)/gm;
const ROW = /^\| `([\w/-]+)\/` \|/gm;
const CALL = 'packages/sdk/src/call';
/** A line of the drawing begins with the name of its stage; others are named in the text after it. */
const STAGE_LINE = /^ {3}([a-z]+(?:-[a-z]+)*) /gm;

export function checkArchitecturePage(tree: Tree): Finding[] {
  const page = tree.text(PAGE);
  return page === undefined ? [] : [...checkFolders(tree, page), ...checkStages(tree, page)];
}

function checkFolders(tree: Tree, page: string): Finding[] {
  const findings: Finding[] = [];
  for (const [, name = '', rows = ''] of page.matchAll(TABLE)) {
    const named = new Set([...rows.matchAll(ROW)].map(([, folder = '']) => folder));
    const folders = foldersOf(tree, `packages/${name}/src/`);
    for (const folder of named) {
      if (!folders.has(folder)) findings.push(fail(`packages/${name}/src has no folder ${folder}`, 'Remove its line'));
    }
    for (const folder of folders) {
      if (folder.includes('/') || named.has(folder)) continue;
      findings.push(fail(`packages/${name}/src/${folder} is not on the page`, 'Give it a line in the table'));
    }
  }
  return findings;
}

/** Folders of a package and the rooms in them. */
function foldersOf(tree: Tree, root: string): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const { path: file, isTest } of tree.sources) {
    if (isTest || !file.startsWith(root)) continue;
    const parts = path.posix.dirname(file.slice(root.length)).split('/');
    if (parts[0] === '.') continue;
    folders.add(parts[0] ?? '').add(parts.slice(0, 2).join('/'));
  }
  return folders;
}

function checkStages(tree: Tree, page: string): Finding[] {
  const stages = tree.sources
    .filter((file) => path.posix.dirname(file.path) === CALL && !file.isTest)
    .map((file) => path.posix.basename(file.path, '.ts'));
  const drawn = [...page.matchAll(STAGE_LINE)].map(([, stage = '']) => stage);
  return [
    ...drawn
      .filter((stage) => !stages.includes(stage))
      .map((stage) => fail(`${CALL} has no stage ${stage}`, 'Remove it from the drawing')),
    ...stages
      .filter((stage) => !drawn.includes(stage) && !page.includes(`\`${stage}\``) && stage !== 'pipeline')
      .map((stage) => fail(`The stage ${stage} is not on the page`, 'Draw it, or name it in the text')),
  ];
}

function fail(what: string, next: string): Finding {
  return { level: 'fail', check: 'architecture-page', file: PAGE, what, next };
}
