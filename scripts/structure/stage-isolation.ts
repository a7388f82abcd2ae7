/** In sdk/src/call only the conductor knows the stages: no stage imports another. */
import path from 'node:path';
import type { Finding } from './finding.ts';
import { resolveRelative } from './packages.ts';
import type { Tree } from './read-tree.ts';

const FOLDER = 'packages/sdk/src/call';
const CONDUCTOR = 'pipeline.ts';

/** Files of the folder that are no stages, so that every stage may use them. */
const NOT_STAGES: readonly string[] = [
  'borrowed-operations.ts',
  'call-events.ts',
  'call-span.ts',
  'call-time.ts',
  'call-types.ts',
  'change-log.ts',
  'create-validation.ts',
  'execution-context.ts',
  'git-view.ts',
  'grant.ts',
  'is-repeatable.ts',
  'path-rule-of.ts',
  'report-fault.ts',
  'run-rules.ts',
  'session-parts.ts',
  'shown-data.ts',
  'settle.ts',
  'tool-name.ts',
  'trail.ts',
  'undo-change.ts',
  'used-key.ts',
];

export function checkStageIsolation(tree: Tree): Finding[] {
  const stages = new Set(
    tree.sources
      .filter((file) => path.posix.dirname(file.path) === FOLDER && isStage(file.path))
      .map(({ path }) => path),
  );
  return tree.sources
    .filter((file) => !file.isTest && (stages.has(file.path) || isSharedPart(file.path)))
    .flatMap((file) =>
      file.imports
        .filter((link) => link.specifier.startsWith('.') && stages.has(resolveRelative(file.path, link.specifier)))
        .map((link) => ({
          level: 'fail' as const,
          check: 'stage-isolation',
          file: file.path,
          line: file.lineAt(link.offset),
          what: `A stage is imported here: ${link.specifier}`,
          next: `Let ${CONDUCTOR} call it and hand the result on, or list it in NOT_STAGES if it is no stage`,
        })),
    );
}

function isStage(file: string): boolean {
  const name = path.posix.basename(file);
  return name !== CONDUCTOR && !NOT_STAGES.includes(name) && !name.endsWith('.test.ts');
}

function isSharedPart(file: string): boolean {
  return path.posix.dirname(file) === FOLDER && NOT_STAGES.includes(path.posix.basename(file));
}
