/** Where programs keep the settings of a user, by platform. */
import { isAbsolute, join } from 'node:path';
import type { Folders } from './client.ts';

/** `~/.config`, or where the user moved it; a relative path does not count, as the standard has it. */
export function xdgConfig({ home, env }: Folders): string {
  const moved = env['XDG_CONFIG_HOME'];
  return moved !== undefined && isAbsolute(moved) ? moved : join(home, '.config');
}

/** Where desktop programs keep theirs. */
export function appConfig(folders: Folders): string {
  const { home, env, platform } = folders;
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env['APPDATA'] ?? join(home, 'AppData', 'Roaming');
  return xdgConfig(folders);
}
