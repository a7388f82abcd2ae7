/**
 * The rules of this repository that no stock linter checks: layers, stages, catalogs, names, sizes, places.
 *
 * `node scripts/check-structure.ts [root]` prints every finding and fails if any of them is more than a warning.
 */
import path from 'node:path';
import { checkArchitecturePage } from './structure/architecture-page.ts';
import { checkCatalogs } from './structure/catalogs.ts';
import { checkLayers } from './structure/check-layers.ts';
import { checkFilePlaces } from './structure/file-places.ts';
import { type Finding, formatFinding } from './structure/finding.ts';
import { checkForbiddenCode } from './structure/forbidden-code.ts';
import { checkForbiddenNames } from './structure/forbidden-names.ts';
import { checkGuardLists } from './structure/guard-lists.ts';
import { checkImportCycles } from './structure/import-cycles.ts';
import { checkMachineTraces } from './structure/machine-traces.ts';
import { checkPackageBorders } from './structure/package-borders.ts';
import { checkPlainWords } from './structure/plain-words.ts';
import { checkPlatformModules } from './structure/platform-modules.ts';
import { readTree, type Tree } from './structure/read-tree.ts';
import { checkFragments, checkRooms } from './structure/rooms.ts';
import { checkSizes } from './structure/sizes.ts';
import { checkStageIsolation } from './structure/stage-isolation.ts';
import { checkTestSwitches } from './structure/test-switches.ts';
import { checkTestWaits } from './structure/test-waits.ts';
import { checkLostCalls, checkToolNames } from './structure/tool-definitions.ts';

const CHECKS: readonly ((tree: Tree) => Finding[])[] = [
  checkPackageBorders,
  checkLayers,
  checkStageIsolation,
  checkPlatformModules,
  checkImportCycles,
  checkCatalogs,
  checkForbiddenNames,
  checkForbiddenCode,
  checkToolNames,
  checkLostCalls,
  checkSizes,
  checkFilePlaces,
  checkRooms,
  checkFragments,
  checkMachineTraces,
  checkTestSwitches,
  checkTestWaits,
  checkGuardLists,
  checkArchitecturePage,
  checkPlainWords,
];

export function checkStructure(root: string): Finding[] {
  const tree = readTree(root);
  return CHECKS.flatMap((check) => check(tree));
}

if (import.meta.main) {
  const root = path.resolve(process.argv[2] ?? path.join(import.meta.dirname, '..'));
  const findings = checkStructure(root).sort((left, right) => left.level.localeCompare(right.level));
  for (const finding of findings) console.log(formatFinding(finding));
  const fails = findings.filter((finding) => finding.level === 'fail').length;
  console.log(`structure: ${CHECKS.length} checks, ${fails} failures, ${findings.length - fails} warnings`);
  if (fails > 0) process.exitCode = 1;
}
