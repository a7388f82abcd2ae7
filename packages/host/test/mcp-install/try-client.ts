/** Installs into real files of a scratch home and project, the way the command does. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Folders, McpClient, Scope } from '../../src/mcp/install/client.ts';
import { writeConfigFile } from '../../src/mcp/install/config-file.ts';
import { planInstall } from '../../src/mcp/install/plan-install.ts';

export const COMMAND = { command: '/usr/bin/node', args: ['/opt/tool-runtime.js', 'mcp', '--workspace', '/w'] };

export interface ScratchFolders extends Folders {
  write(path: string, text: string): void;
  read(path: string): string;
  [Symbol.dispose](): void;
}

export function createFolders(env: Folders['env'] = {}, platform: NodeJS.Platform = 'linux'): ScratchFolders {
  const root = mkdtempSync(join(tmpdir(), 'tool-runtime-install-'));
  const [home, project] = [join(root, 'home'), join(root, 'project')];
  for (const folder of [home, project]) mkdirSync(folder);
  return {
    home,
    project,
    platform,
    env,
    exists: existsSync,
    write(path, text) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** The path that was written, or left as it was. */
export function installInto(
  client: McpClient,
  folders: Folders,
  { scope = client.usualScope, http }: { scope?: Scope; http?: string } = {},
): string {
  const place = client.place(scope, folders);
  if (place === undefined) throw new TypeError('No such file');
  const entry = http === undefined ? client.stdio(COMMAND) : client.http(http);
  const plan = planInstall(client, place, { name: 'tool-runtime', entry });
  if (plan.isChange) writeConfigFile(place, plan.file, plan.text);
  return place.path;
}
