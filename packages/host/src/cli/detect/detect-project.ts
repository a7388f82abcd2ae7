/**
 * Reads a workspace and reports its languages, tools and scripts.
 *
 * The root comes first. Folders below it always add their languages and tests; their commands count only when the root
 * is no project itself, because a root that is one knows how to build its parts.
 */
import { allowPatterns, joinCommands } from './command-set.ts';
import type {
  DetectedProject,
  EcosystemFacts,
  FolderView,
  ProjectCommands,
  ProjectReader,
} from './detected-project.ts';
import { ECOSYSTEMS } from './ecosystems/catalog.ts';

/** With more projects than this a joined command would be a guess too long to read. */
const MAX_JOINED = 10;
const MAX_SCRIPTS = 60;

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
  const scripts = unique(all.flatMap((facts) => facts.scripts ?? [])).slice(0, MAX_SCRIPTS);
  return {
    languages: unique(all.flatMap(({ languages }) => languages)),
    ...(packageManager === undefined ? {} : { packageManager }),
    commands,
    ...(git === undefined ? {} : { git }),
    testGlobs: unique(all.flatMap(({ testGlobs }) => testGlobs)),
    shellAllow: allowPatterns(commands, scripts),
    scripts,
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

/** The default branch, from the files git keeps: the remote's, else a usual name, else the only one there is. */
const USUAL = ['main', 'master', 'trunk', 'develop'];
const REMOTE_HEAD = /^ref: refs\/remotes\/origin\/(\S+)\s*$/;
const LOCAL_HEAD = /^ref: refs\/heads\/(\S+)\s*$/;
/** Anything else would need care as a glob. */
const BRANCH_NAME = /^[\w][\w./-]{0,100}$/;

function detectGit(reader: ProjectReader): DetectedProject['git'] {
  if (!reader.exists('.git')) return undefined;
  const remote = REMOTE_HEAD.exec(reader.read('.git/refs/remotes/origin/HEAD') ?? '')?.[1];
  const branches = localBranches(reader);
  const current = LOCAL_HEAD.exec(reader.read('.git/HEAD') ?? '')?.[1];
  const only = branches.every((branch) => branch === current) ? current : undefined;
  const found = remote ?? USUAL.find((name) => branches.includes(name)) ?? only;
  return found === undefined || !BRANCH_NAME.test(found) ? {} : { defaultBranch: found };
}

function localBranches(reader: ProjectReader): readonly string[] {
  const packed = (reader.read('.git/packed-refs') ?? '').matchAll(/ refs\/heads\/(\S+)$/gm);
  return [...reader.list('.git/refs/heads'), ...[...packed].map((match) => match[1] ?? '')];
}

/** One folder of the workspace, read as if it were the root. */
function folderView(reader: ProjectReader, folder: string): FolderView {
  const inside = (name: string) => [folder, name].filter((part) => part !== '').join('/');
  return {
    folder,
    read: (name) => reader.read(inside(name)),
    exists: (name) => reader.exists(inside(name)),
    list: (name = '') => reader.list(inside(name)),
  };
}

/** Folders of a monorepo that may hold projects of their own, in the order they are looked at. */
const CONTAINERS = ['packages', 'apps', 'services', 'crates', 'libs', 'modules', 'projects'];
/** Made by builds, brought by others, or there to be looked at: none of them says what the project is. */
const NEVER = new Set(
  'node_modules vendor third_party target dist build out venv coverage docs doc example examples test tests fixtures bench'.split(
    ' ',
  ),
);
/** These get into command lines. */
const FOLDER_NAME = /^[A-Za-z0-9_][\w.-]{0,60}$/;
const MAX_FOLDERS = 200;

function projectFolders(reader: ProjectReader): readonly string[] {
  const top = plainNames(reader, '');
  const nested = CONTAINERS.filter((name) => top.includes(name)).flatMap((container) =>
    plainNames(reader, container).map((name) => `${container}/${name}`),
  );
  return [...top, ...nested].slice(0, MAX_FOLDERS);
}

function plainNames(reader: ProjectReader, folder: string): readonly string[] {
  return reader
    .list(folder)
    .filter((name) => FOLDER_NAME.test(name) && !NEVER.has(name))
    .toSorted();
}
