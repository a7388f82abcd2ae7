/**
 * Reads a workspace and says what it is made of.
 *
 * The root comes first. Folders below it always add their languages and tests; their commands count only when the root
 * is no project itself, because a root that is one knows how to build its parts.
 */
import { allowPatterns, joinCommands } from './command-set.ts';
import { detectGit } from './detect-git.ts';
import type { DetectedProject, EcosystemFacts, ProjectCommands, ProjectReader } from './detected-project.ts';
import { ECOSYSTEMS } from './ecosystems/catalog.ts';
import { folderView } from './folder-view.ts';
import { projectFolders } from './project-folders.ts';

/** With more projects than this a joined command would be a guess nobody reads. */
const MAX_JOINED = 10;

interface FolderFacts {
  readonly facts: EcosystemFacts;
  readonly fillsGaps: boolean;
}

export function detectProject(reader: ProjectReader): DetectedProject {
  const root = factsOf(reader, '');
  const below = projectFolders(reader).map((folder) => factsOf(reader, folder));
  const all = [root, ...below].flat().map(({ facts }) => facts);
  const commands = root.length > 0 ? commandsOf(root) : belowCommands(below);
  const packageManager = all.find((facts) => facts.packageManager !== undefined)?.packageManager;
  const git = detectGit(reader);
  return {
    languages: unique(all.flatMap(({ languages }) => languages)),
    ...(packageManager === undefined ? {} : { packageManager }),
    commands,
    ...(git === undefined ? {} : { git }),
    testGlobs: unique(all.flatMap(({ testGlobs }) => testGlobs)),
    shellAllow: allowPatterns(commands),
  };
}

function factsOf(reader: ProjectReader, folder: string): readonly FolderFacts[] {
  const view = folderView(reader, folder);
  return ECOSYSTEMS.flatMap(({ detect, fillsGaps = false }) => {
    const facts = detect(view);
    return facts === undefined ? [] : [{ facts, fillsGaps }];
  });
}

function commandsOf(found: readonly FolderFacts[]): ProjectCommands {
  const setsOf = (fillsGaps: boolean) =>
    found.filter((one) => one.fillsGaps === fillsGaps).map(({ facts }) => facts.commands);
  return { ...joinCommands(setsOf(true)), ...joinCommands(setsOf(false)) };
}

function belowCommands(below: readonly (readonly FolderFacts[])[]): ProjectCommands {
  const projects = below.filter((found) => found.length > 0);
  return projects.length > MAX_JOINED ? {} : joinCommands(projects.map(commandsOf));
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}
