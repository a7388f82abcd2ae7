/** Folders of a monorepo that may hold projects of their own, in the order they are looked at. */
import type { ProjectReader } from './detected-project.ts';

const CONTAINERS = ['packages', 'apps', 'services', 'crates', 'libs', 'modules', 'projects'];
/** Made by builds, brought by others, or there to be looked at: none of them says what the project is. */
const NEVER = new Set(
  'node_modules vendor third_party target dist build out venv coverage docs doc example examples test tests fixtures bench'.split(
    ' ',
  ),
);
/** These get into command lines. */
const PLAIN_NAME = /^[A-Za-z0-9_][\w.-]{0,60}$/;
const MAX_FOLDERS = 200;

export function projectFolders(reader: ProjectReader): readonly string[] {
  const top = plainNames(reader, '');
  const nested = CONTAINERS.filter((name) => top.includes(name)).flatMap((container) =>
    plainNames(reader, container).map((name) => `${container}/${name}`),
  );
  return [...top, ...nested].slice(0, MAX_FOLDERS);
}

function plainNames(reader: ProjectReader, folder: string): readonly string[] {
  return reader
    .list(folder)
    .filter((name) => PLAIN_NAME.test(name) && !NEVER.has(name))
    .toSorted();
}
