/** Every file directly in sdk/src/call is a stage of a call, and only the pipeline imports stages. */
import path from 'node:path';
import type { Finding } from './finding.ts';
import { resolveRelative } from './packages.ts';
import type { Tree } from './read-tree.ts';

const FOLDER = 'packages/sdk/src/call';
const PIPELINE = `${FOLDER}/pipeline.ts`;

export function checkStageIsolation(tree: Tree): Finding[] {
  return tree.sources
    .filter((file) => !file.isTest && file.path.startsWith(`${FOLDER}/`) && file.path !== PIPELINE)
    .flatMap((file) =>
      file.imports
        .filter((link) => link.specifier.startsWith('.') && isStage(resolveRelative(file.path, link.specifier)))
        .map((link) => ({
          level: 'fail' as const,
          check: 'stage-isolation',
          file: file.path,
          line: file.lineAt(link.offset),
          what: `A stage is imported here: ${link.specifier}`,
          next: 'Let pipeline.ts call it and pass the result on, or move what is not a stage to call/state/',
        })),
    );
}

/** Called by the pipeline alone, and therefore a file of its own however short it is. */
export function isStage(file: string): boolean {
  return path.posix.dirname(file) === FOLDER && file !== PIPELINE;
}
