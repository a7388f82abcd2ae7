/** `sandbox`: toolchains, caches and variables of commands inside the sandbox. */
import { safeText } from '@tool-runtime/protocol/internal';
import { z } from 'zod';
import type { SandboxSettings } from '../../contracts/registry.ts';
import { PACKAGE_CACHES, TOOLCHAIN_NAMES } from '../../contracts/sandbox-names.ts';
import { isWritten, type Narrowing } from '../narrowing.ts';
import { defineSection } from '../section.ts';
import { checkedText, shapedText } from '../texts.ts';

const TOOLCHAINS = TOOLCHAIN_NAMES as unknown as [string, ...string[]];
const CACHES = Object.keys(PACKAGE_CACHES) as [string, ...string[]];

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*\*?$/;

const shownPath = checkedText((text) => {
  if (!/^(?:~|)\/[^\u0000-\u001f\u007f]{1,4094}$/.test(text))
    return 'Not an absolute path, nor one that begins with ~/';
  return text.split('/').includes('..') ? 'Path has .. in it' : undefined;
});

const variable = shapedText(VARIABLE, 'Not the name of a variable; a * may stand at the end');

const schema = z.strictObject({
  toolchains: z
    .array(z.enum(TOOLCHAINS))
    .exactOptional()
    .describe(
      'Toolchains of the home folder that commands see read-only; left out: all that are found on this machine; []: none',
    ),
  read_only: z
    .array(shownPath)
    .default([])
    .describe('Files and folders that commands also see, read-only: absolute, or from ~/'),
  path: z
    .array(shownPath)
    .default([])
    .describe('Folders of programs, looked at before those of the system; commands see them read-only'),
  caches: z
    .array(z.enum(CACHES))
    .default(CACHES)
    .describe('Package managers whose cache is kept between commands, for this workspace only; []: none'),
  env: z
    .array(variable)
    .default([])
    .describe('Variables that env may set although they are refused otherwise, such as PYTHONPATH; * at the end'),
});

export const sandbox = defineSection({
  keys: { sandbox: schema.prefault({}).describe('What commands find inside the sandbox') },
  build: (written) => ({ sandbox: written.sandbox as SandboxSettings }),
  narrow: (narrowing) => ({ sandbox: narrowSandbox(narrowing) }),
});

function narrowSandbox(narrowing: Narrowing): SandboxSettings {
  const { host, session } = narrowing;
  const chains = session.sandbox.toolchains ?? host.sandbox.toolchains;
  const isOpen = host.sandbox.toolchains === undefined;
  const toolchains =
    chains &&
    keep(narrowing, 'toolchains', chains, (name) => isOpen || host.sandbox.toolchains?.includes(name) === true);
  const paths = (key: 'read_only' | 'path') =>
    keep(narrowing, key, session.sandbox[key], (path) => host.sandbox[key].some((outer) => isBelow(path, outer)));
  return {
    ...(toolchains === undefined ? {} : { toolchains }),
    read_only: paths('read_only'),
    path: paths('path'),
    caches: keep(narrowing, 'caches', session.sandbox.caches, (name) => host.sandbox.caches.includes(name)),
    env: keep(narrowing, 'env', session.sandbox.env, (name) => host.sandbox.env.some((outer) => covers(outer, name))),
  };
}

function keep(
  { session, overreach }: Narrowing,
  key: keyof SandboxSettings,
  own: readonly string[],
  isGiven: (entry: string) => boolean,
): readonly string[] {
  for (const [index, entry] of own.entries()) {
    // Defaults that the host cut are no wish of the session.
    if (isGiven(entry) || !isWritten(session, `sandbox.${key}`)) continue;
    const message = `sandbox.${key} is not allowed by the host: ${safeText(entry, 120)}`;
    overreach.push({ path: `sandbox.${key}.${index}`, message });
  }
  return own.filter(isGiven);
}

function isBelow(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}/`);
}

function covers(outer: string, name: string): boolean {
  return outer.endsWith('*') ? name.startsWith(outer.slice(0, -1)) : outer === name;
}
