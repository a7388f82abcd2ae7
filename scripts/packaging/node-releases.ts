/** The Nodes the packages are tried on: the project's own, and older ones that npm fetches. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { emptyHome } from './empty-home.ts';
import { npmInstall } from './npm-install.ts';

export interface NodeRelease {
  readonly major: string;
  /** Folder with the program `node`. */
  readonly folder: string;
}

export function projectNode(root: string): NodeRelease {
  return { major: '24', folder: path.join(root, 'node_modules/node/bin') };
}

export async function fetchNode(major: string, root: string, place: string): Promise<NodeRelease> {
  const folder = path.join(place, `node-${major}`);
  mkdirSync(folder, { recursive: true });
  // The program itself is fetched by an install script: allowed here, and for nothing else.
  writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }));
  const env = emptyHome(place, projectNode(root).folder);
  await npmInstall([`node@${major}`], { cwd: folder, env });
  return { major, folder: path.join(folder, 'node_modules/node/bin') };
}
