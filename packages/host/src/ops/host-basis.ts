/**
 * What the answer of a call depends on, apart from the call itself: workspace, state folder, registry, trust, durability, witness,
 * environment, version. A host publishes the digest of its own; a command whose digest is the same may leave its call to it.
 *
 * Inputs are compared, not the registry they lead to: reading that costs most of what the host saves.
 */
import { hash } from 'node:crypto';
import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hostVersion } from './host-version.ts';

export interface BasisOptions {
  readonly workspace: string;
  readonly registry?: string;
  readonly durability?: 'normal' | 'full';
  readonly witness?: string;
}

/** Change from shell to shell and reach no tool. */
const PASSING =
  /^(?:_|SHLVL|PWD|OLDPWD|COLUMNS|LINES|TERM|TERM_\w+|COLORTERM|WINDOWID|SSH_TTY|npm_\w+|INIT_CWD|NODE|NODE_COMPILE_CACHE)$/;

/** Undefined when it cannot be told, such as when the registry is no regular file. */
export function hostBasis(options: BasisOptions, state: string): string | undefined {
  try {
    const { workspace, registry, durability, witness } = options;
    const inputs = [
      hostVersion(),
      process.version,
      realpathSync.native(workspace),
      realpathSync.native(state),
      registry === undefined ? null : resolve(registry),
      contentOf(registry ?? join(workspace, 'tool-runtime.yaml')),
      contentOf(join(state, 'trusted-registries.json')),
      durability ?? 'normal',
      witness === undefined ? null : resolve(witness),
      environmentOf(process.env),
    ];
    return hash('sha256', JSON.stringify(inputs));
  } catch {
    return undefined;
  }
}

function contentOf(file: string): string | null {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!found.isFile()) throw new TypeError('Not a regular file');
  return hash('sha256', readFileSync(file));
}

/** npm puts the programs of the project in front of PATH; commands of a workspace are not looked for there. */
function environmentOf(env: NodeJS.ProcessEnv): readonly (readonly [string, string])[] {
  return Object.entries(env)
    .filter(([name]) => !PASSING.test(name))
    .map(([name, value = '']) => [name, name === 'PATH' ? withoutNpm(value) : value] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
}

function withoutNpm(path: string): string {
  return path
    .split(':')
    .filter((folder) => !folder.includes('node_modules') && !folder.endsWith('/node-gyp-bin'))
    .join(':');
}
