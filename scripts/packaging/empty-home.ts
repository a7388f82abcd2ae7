/**
 * The environment of a user who has just logged in: an empty home, one chosen Node first in the path, and nothing of
 * the npm run that started us. How npm reaches its registry stays as it is set up on this machine.
 */
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const OF_THIS_RUN =
  /^(?:npm_(?!config_)|npm_config_(?:local_prefix|prefix|global_prefix)$|INIT_CWD$|NODE_(?:OPTIONS|PATH|ENV|TEST_CONTEXT)$|TOOL_RUNTIME_|XDG_)/i;

export function emptyHome(place: string, nodeFolder: string, from: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const home = path.join(place, 'home');
  mkdirSync(home, { recursive: true });
  const kept = Object.entries(from).filter(([name]) => !OF_THIS_RUN.test(name));
  return {
    npm_config_userconfig: path.join(homedir(), '.npmrc'),
    npm_config_cache: path.join(homedir(), '.npm'),
    ...Object.fromEntries(kept),
    HOME: home,
    PATH: [nodeFolder, ...searchPath(from)].join(path.delimiter),
  };
}

/** npm puts the programs of the project in front. */
function searchPath({ PATH = '' }: NodeJS.ProcessEnv): string[] {
  return PATH.split(path.delimiter).filter((folder) => !folder.includes('node_modules'));
}
