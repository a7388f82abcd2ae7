/** Files of a lane's own: what was acknowledged last is what must be there, also for its own next read. */

import { NEEDLE_STRIDE, SOURCE_FILES, sourceName, sourceText } from '../stage/plant-repository.ts';
import { BASE_TREE } from '../stage/site.ts';
import { type CallKind, type Lane, planCall } from './call-maker.ts';

/** Sources of these folders are never changed. */
const STABLE_PARTS = 10;
const PARTS = 12;

export const fileCalls: readonly CallKind[] = [
  { name: 'write', weight: 120, make: write },
  { name: 'patch', weight: 80, make: patch },
  { name: 'remove', weight: 25, make: remove },
  { name: 'read own', weight: 80, make: readOwn },
  { name: 'read source', weight: 80, make: readSource },
  { name: 'list', weight: 30, make: list },
  { name: 'grep', weight: 40, make: grep },
  { name: 'copy tree', weight: 30, make: copyTree },
  { name: 'move tree', weight: 25, make: moveTree },
  { name: 'delete tree', weight: 25, make: deleteTree },
];

function textPath({ number, generation }: Lane): string {
  return `lanes/${number}/text-${generation}.txt`;
}

function countPath({ number, generation }: Lane): string {
  return `lanes/${number}/count-${generation}.txt`;
}

/** The one right content, where there is only one. */
function known(lane: Lane, path: string): { readonly content: string | undefined } | undefined {
  const contents = lane.site.files.possible(path);
  return contents.size === 1 ? { content: [...contents][0] } : undefined;
}

/** Leads to this content, and leaves the names of this generation alone when it is unknown whether it did. */
function change(lane: Lane, path: string, next: string | undefined) {
  const settle = lane.site.files.begin(path, next);
  return {
    settle: (knowledge: Parameters<typeof settle>[0]) => {
      settle(knowledge);
      if (knowledge === 'unknown') lane.generation += 1;
    },
  };
}

function write(lane: Lane) {
  const path = textPath(lane);
  const content = `turn ${++lane.turn}\n${'text of a lane\n'.repeat(1 + (lane.turn % 200))}`;
  const cancelAfterMs = lane.random.below(20) === 0 ? lane.random.below(3) : undefined;
  return planCall(lane, {
    tool: 'file_write',
    args: { path, content },
    ...(cancelAfterMs === undefined ? {} : { cancelAfterMs }),
    isRight: ({ size }) => size === content.length,
    ...change(lane, path, content),
  });
}

function countText(count: number): string {
  return `before\ncount ${count}\nafter\n`;
}

function patch(lane: Lane) {
  const path = countPath(lane);
  const now = known(lane, path);
  if (now === undefined) return undefined;
  const count = Number(/^count (\d+)$/m.exec(now.content ?? '')?.[1] ?? -1);
  const next = countText(count + 1);
  const args =
    now.content === undefined
      ? { tool: 'file_write', args: { path, content: next, create_only: true } }
      : {
          tool: 'file_patch',
          args: {
            path,
            unified_diff: `--- a/${path}\n+++ b/${path}\n@@ -1,3 +1,3 @@\n before\n-count ${count}\n+count ${count + 1}\n after\n`,
          },
        };
  return planCall(lane, { ...args, ...change(lane, path, next) });
}

function remove(lane: Lane) {
  const path = textPath(lane);
  const now = known(lane, path);
  if (now?.content === undefined) return undefined;
  return planCall(lane, { tool: 'fs_delete', args: { path }, ...change(lane, path, undefined) });
}

function readOwn(lane: Lane) {
  const path = lane.random.pick([textPath(lane), countPath(lane)]);
  const now = known(lane, path);
  if (now?.content === undefined) return undefined;
  return planCall(lane, { tool: 'file_read', args: { path }, isRight: ({ content }) => content === now.content });
}

function readSource(lane: Lane) {
  const index = lane.random.below(SOURCE_FILES);
  if (index % PARTS >= STABLE_PARTS) return undefined;
  const text = sourceText(index);
  return planCall(lane, {
    tool: 'file_read',
    args: { path: sourceName(index) },
    isRight: ({ content }) => isElsewhere(lane) || content === text,
    mayFail: isElsewhere(lane) ? ['E_FILE_IO'] : [],
  });
}

function list(lane: Lane) {
  const part = lane.random.below(STABLE_PARTS);
  return planCall(lane, {
    tool: 'fs_list',
    args: { glob: `src/part-${part}/*.ts` },
    isRight: ({ files }) => isElsewhere(lane) || (Array.isArray(files) && files.length === SOURCE_FILES / PARTS),
  });
}

function grep(lane: Lane) {
  return planCall(lane, {
    tool: 'grep',
    args: { pattern: 'needle', glob: 'src/**/*.ts', files_only: true, fixed: true },
    isRight: ({ files, partial }) =>
      isElsewhere(lane) || partial === true || (Array.isArray(files) && files.length === SOURCE_FILES / NEEDLE_STRIDE),
  });
}

/** Where one lane works through all verbs of git, sources come and go. */
function isElsewhere({ site }: Lane): boolean {
  return site.name === 'other';
}

function treePath(lane: Lane): string {
  return `lanes/${lane.number}/tree-${++lane.turn}`;
}

function copyTree(lane: Lane) {
  const dst = treePath(lane);
  const settle = lane.site.files.beginTree(dst, 'present');
  return planCall(lane, {
    tool: 'fs_copy',
    args: { src: BASE_TREE, dst, create_dirs: true },
    settle: (knowledge) => {
      settle(knowledge);
      if (knowledge === 'done') lane.trees.push(dst);
    },
  });
}

function moveTree(lane: Lane) {
  const src = lane.trees.shift();
  if (src === undefined) return undefined;
  const dst = treePath(lane);
  const settles = [lane.site.files.beginTree(src, 'absent'), lane.site.files.beginTree(dst, 'present')];
  return planCall(lane, {
    tool: 'fs_move',
    args: { src, dst },
    settle: (knowledge) => {
      for (const settle of settles) settle(knowledge);
      if (knowledge === 'unknown') lane.site.files.mayHaveMoved(src, dst);
      else lane.trees.push(knowledge === 'done' ? dst : src);
    },
  });
}

function deleteTree(lane: Lane) {
  const path = lane.trees.shift();
  if (path === undefined) return undefined;
  const settle = lane.site.files.beginTree(path, 'absent');
  return planCall(lane, {
    tool: 'fs_delete',
    args: { path, recursive: true },
    settle: (knowledge) => {
      settle(knowledge);
      if (knowledge === 'not done') lane.trees.push(path);
    },
  });
}
