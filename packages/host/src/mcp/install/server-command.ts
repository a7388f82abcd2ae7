/**
 * The command a client starts us with. Clients start servers with a bare environment, often without the user's PATH, so
 * everything is an argument and every path absolute: this Node, this program. That also starts in a fraction of the time
 * `npx` takes, and needs no network.
 *
 * `npx` with the exact version is written when this program itself runs from the cache of npx, which comes and goes, and
 * for files that others will use on their machines.
 */
import { resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inPackage } from '../../ops/host-version.ts';
import type { ServerCommand } from './client.ts';

const PACKAGE = '@tool-runtime/host';

export interface Program {
  readonly node: string;
  readonly script: string;
  readonly version: string;
  readonly platform: NodeJS.Platform;
}

export interface Served {
  readonly workspace: string;
  readonly state?: string | undefined;
  readonly registry?: string | undefined;
  readonly profile?: string | undefined;
  readonly tools?: string | undefined;
}

export function thisProgram(version: string): Program {
  return {
    node: process.execPath,
    script: fileURLToPath(inPackage('bin/tool-runtime.js')),
    version,
    platform: process.platform,
  };
}

/** `projectWord`: write for all users of the project, with this name of its folder. */
export function serverCommand(program: Program, served: Served, projectWord?: string): ServerCommand {
  const isPortable = projectWord !== undefined;
  const absolute = (path: string): string => (isPortable ? path : resolve(path));
  const args = ['mcp', '--workspace', projectWord ?? resolve(served.workspace)];
  if (served.state !== undefined) args.push('--state', absolute(served.state));
  if (served.registry !== undefined) args.push('--registry', absolute(served.registry));
  if (served.profile !== undefined) args.push('--profile', served.profile);
  if (served.tools !== undefined) args.push('--tools', served.tools);
  return isPortable || isCached(program.script)
    ? viaNpx(program, args)
    : { command: program.node, args: [program.script, ...args] };
}

function viaNpx({ version, platform }: Program, args: readonly string[]): ServerCommand {
  const words = ['npx', '-y', `${PACKAGE}@${version}`, ...args];
  // On Windows npx is a script, which only a shell starts.
  const [command = '', ...rest] = platform === 'win32' ? ['cmd', '/c', ...words] : words;
  return { command, args: rest };
}

function isCached(script: string): boolean {
  return script.split(sep).some((part) => part === '_npx' || part.startsWith('dlx-'));
}
