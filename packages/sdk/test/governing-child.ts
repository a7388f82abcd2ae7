/**
 * Attacks on one kind of governing file at every place, by every tool of the catalog, each with a twin that must work.
 *
 * Runs in a process of its own, as root or as a user without privileges. Started by governing-files.deep.test.ts; prints one
 * line of JSON.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { sideEffectRank } from '../src/contracts/annotations.ts';
import type { AnyTool } from '../src/contracts/tool.ts';
import { loadNativeCalls } from '../src/platform/descriptors/native-calls.ts';
import * as catalog from '../src/tools/catalog.ts';
import { CANARY, dropSecondName, type GoverningScene, KINDS, leaks, openScene, PLACES } from './governing-scene.ts';

const user = Number(process.argv[2]);
const kind = KINDS.find((name) => name === process.argv[3]) ?? 'registry';
loadNativeCalls();
if (process.getuid?.() === 0 && user !== 0) {
  process.setgroups?.([]);
  process.setgid?.(user);
  process.setuid?.(user);
}

/** Values for arguments that are no paths: required ones, and those that a tool needs one form of. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  content: 'changed\n',
  old: 'version: 1',
  new: 'version: 2',
  unified_diff: '@@ -1 +1 @@\n-version: 1\n+version: 2\n',
};
/** What a call needs to succeed on an ordinary file. */
const HELPFUL = { overwrite: true, recursive: true, create_dirs: true, force: true };

interface Attack {
  readonly tool: AnyTool;
  readonly param: string;
  args(scene: GoverningScene, path: string, flags: object): object;
}

const report = {
  uid: process.getuid?.(),
  scenes: 0,
  attacks: 0,
  hits: [] as string[],
  refusedTwins: [] as string[],
  twins: 0,
};

/** Paths of the change tools choose among those of a change set; commit-changes.test.ts attacks what they commit. */
function attacks(): readonly Attack[] {
  const tools = Object.values(catalog as Record<string, AnyTool>).filter(({ category }) => category !== 'changes');
  return tools.flatMap((tool) =>
    pathParams(tool).map((param) => ({
      tool,
      param,
      args: (scene: GoverningScene, path: string, flags: object) => argsFor(tool, { param, path, scene, flags }),
    })),
  );
}

function pathParams(tool: AnyTool): readonly string[] {
  return tool.annotations?.arg_schema?.path_params ?? [];
}

/** Starting a process takes long, so those tools are tried with fewer arguments. */
function startsProcesses({ category, effect }: AnyTool): boolean {
  return category === 'git' || effect === 'process';
}

function mayWrite({ annotations }: AnyTool): boolean {
  return sideEffectRank(annotations?.side_effect_level ?? 'network') >= sideEffectRank('workspace_write');
}

interface Chosen {
  readonly param: string;
  readonly path: string;
  readonly scene: GoverningScene;
  readonly flags: object;
}

function argsFor(tool: AnyTool, { param, path, scene, flags }: Chosen): object {
  const { properties = {}, required = [] } = schemaOf(tool);
  const paths = pathParams(tool);
  const other = `${scene.prefix}${scene.isFolder ? 'plain-folder' : 'plain.txt'}`;
  const fill = (name: string): unknown => {
    const value =
      name === param ? path : paths.includes(name) ? (name === 'dst' ? `${scene.prefix}fresh` : other) : SAMPLES[name];
    if (value === undefined) throw new Error(`Give a sample for ${tool.name}.${name} in governing-child.ts`);
    return properties[name]?.type === 'array' ? [value] : value;
  };
  const either = ['old', 'new'].filter((name) => properties[name] !== undefined);
  const names = [...new Set([param, ...required, ...either])];
  const known = Object.entries(flags).filter(([name]) => properties[name]?.type === 'boolean');
  const command = tool.name === 'shell_exec' ? { cmd: 'touch made' } : {};
  return { ...Object.fromEntries(names.map((name) => [name, fill(name)])), ...Object.fromEntries(known), ...command };
}

interface ArgsSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string }>>;
  readonly required?: readonly string[];
}

function schemaOf(tool: AnyTool): ArgsSchema {
  return z.toJSONSchema(tool.args, { io: 'input', unrepresentable: 'any' }) as ArgsSchema;
}

/** Everything switched on, and what makes a call succeed. */
function flagSets(tool: AnyTool): readonly object[] {
  if (startsProcesses(tool) || !mayWrite(tool)) return [HELPFUL];
  const flags = Object.entries(schemaOf(tool).properties ?? {}).filter(([, { type }]) => type === 'boolean');
  return [Object.fromEntries(flags.map(([name]) => [name, true])), HELPFUL];
}

function spellings(scene: GoverningScene, target: string): readonly string[] {
  const { root, prefix, isFolder } = scene;
  const path = relative(root, target);
  const name = basename(target);
  const isTwin = target !== scene.path;
  const alias = isTwin ? 'alias-twin.txt' : 'alias-governing';
  if (path.startsWith('..')) return [alias, path, target];
  const beside = (other: string): string => join(dirname(path), other);
  const found = [
    path,
    `plain-folder/../${path}`,
    `to-folder/${name}`,
    ...(name === 'twin-folder' ? [] : [`to-${name}`]),
  ];
  if (!isFolder) found.push(alias);
  if (!isTwin) {
    found.push(beside(name.toUpperCase()), beside(`${name.slice(0, 2)}\u200d${name.slice(2)}`), `${path}/`);
    for (let above = dirname(path); above !== '.'; above = dirname(above)) found.push(above);
    if (isFolder) found.push(`${path}/made`, `${path}/config`, `to-${name}/made`, `${path}/hooks/made`);
  }
  return found.map((spelling) => `${prefix}${spelling}`);
}

async function attackByTools(scene: GoverningScene): Promise<void> {
  const before = scene.fingerprint();
  for (const attack of attacks()) {
    const { tool, param } = attack;
    if (!mayWrite(tool) && !scene.isSecret) continue;
    if (startsProcesses(tool) && (scene.place !== 'root' || !scene.keepsCommandsOut)) continue;
    const paths = spellings(scene, scene.path);
    for (const path of startsProcesses(tool) ? paths.filter((_, at) => at % 3 === 0) : paths) {
      for (const flags of flagSets(tool)) {
        await call(scene, {
          tool: tool.name,
          args: attack.args(scene, path, flags),
          before,
          label: `${param}=${path}`,
        });
      }
    }
    await tryTwin(scene, attack);
  }
  for (const pattern of ['CANARY', '.', 'tok_']) {
    const args = { pattern, include_hidden: true, include_ignored: true };
    await call(scene, { tool: 'grep', args, before, label: pattern });
    await call(scene, {
      tool: 'grep',
      args: { ...args, count: true, glob: '**/host.tokens' },
      before,
      label: `count ${pattern}`,
    });
  }
}

interface Call {
  readonly tool: string;
  readonly args: object;
  readonly before: string;
  readonly label: string;
}

async function call(scene: GoverningScene, { tool, args, before, label }: Call): Promise<void> {
  scene.reset();
  // With a second name no command starts; file tools are attacked with one, commands without.
  if (tool === 'shell_exec' || tool.startsWith('git_')) dropSecondName(scene);
  report.attacks++;
  const answer = JSON.stringify(await scene.session.call(tool, args));
  const where = `${scene.kind} at ${relative(scene.base, scene.path)}: ${tool} ${label} ${JSON.stringify(args).slice(0, 150)}`;
  if (scene.fingerprint() !== before) report.hits.push(`changed ${where}: ${answer.slice(0, 300)}`);
  if (scene.isSecret && (answer.includes(CANARY) || leaks(scene).length > 0)) report.hits.push(`read ${where}`);
  if (report.hits.length > 20) throw new Error(report.hits.join('\n'));
}

/** The same call on an ordinary file or folder beside the governing one. */
async function tryTwin(scene: GoverningScene, { tool, param, args }: Attack): Promise<void> {
  if (tool.name.startsWith('git_')) return;
  const folder = relative(scene.root, scene.path).startsWith('..') ? scene.root : dirname(scene.path);
  const isFolder = /^(?:shell_exec|fs_tree)$/.test(tool.name) || (scene.isFolder && /^fs_/.test(tool.name));
  const twin = join(folder, isFolder ? 'twin-folder' : 'twin.txt');
  const other = { ...scene, isFolder };
  for (const path of spellings(other, twin)) {
    // A command sees the workspace alone, and a link to a folder leads out of it or not at all.
    if (tool.name === 'shell_exec' && scene.prefix !== '') continue;
    scene.reset();
    if (tool.name === 'shell_exec') dropSecondName(scene);
    // Nor does a tree follow links.
    if ((tool.effect === 'process' || tool.name === 'fs_tree') && path.includes('to-')) continue;
    report.twins++;
    const answer = await scene.session.call(tool.name, args(other, path, HELPFUL));
    if (!answer.ok)
      report.refusedTwins.push(
        `${scene.kind}: ${tool.name} ${param}=${path}: ${JSON.stringify(answer.errors).slice(0, 300)}`,
      );
  }
}

const SCRIPT = `p="$1"; d=$(dirname "$p")
echo x > "$p"; echo x >> "$p"; chmod 777 "$p"; truncate -s 0 "$p"; rm -rf "$p"; mv "$p" made; mkdir -p "$p"; touch "$p/made" "$p/hooks/made"
cp plain.txt "$p"; mv plain.txt "$p"; ln -f plain.txt "$p"; ln -sf plain.txt "$p"; rm -rf "$p/config"
cat "$p" > stolen; cat "$p"; cp -r "$p" stolen-copy; ln "$p" stolen-link; cat stolen-link
while [ "$d" != . ]; do mv "$d" made-folder && mkdir -p "$d" && echo evil > "$p"; mv made-folder "$d"; rm -rf "$d"; d=$(dirname "$d"); done
exit 0
`;

/** No shell may be started by name, so another program starts it. */
function programOn(target: string): string {
  const words = ['sh', '-c', SCRIPT, 'sh', target];
  return `import subprocess\nsubprocess.run(${JSON.stringify(words)})\n`;
}

async function attackByCommand(scene: GoverningScene): Promise<void> {
  const path = relative(scene.root, scene.path);
  if (path.startsWith('..') || scene.prefix !== '' || !scene.keepsCommandsOut) return;
  const before = scene.fingerprint();
  const start = async (target: string): Promise<void> => {
    scene.reset();
    dropSecondName(scene);
    writeFileSync(join(scene.root, 'attack.py'), programOn(target));
    const answer = await scene.session.call('shell_exec', { cmd: 'python3 attack.py' });
    const told = JSON.stringify(answer);
    if (!answer.ok) report.refusedTwins.push(`${scene.kind} command on ${target}: ${told.slice(0, 400)}`);
    if (scene.isSecret && told.includes(CANARY)) report.hits.push(`${scene.kind} read by a command`);
  };
  report.attacks++;
  await start(path);
  if (scene.fingerprint() !== before) report.hits.push(`${scene.kind} at ${path} changed by a command`);
  if (scene.isSecret && leaks(scene).length > 0) report.hits.push(`${scene.kind} copied by a command: ${leaks(scene)}`);
  report.twins++;
  const twin = join(dirname(scene.path), 'twin.txt');
  scene.reset();
  const old = readFileSync(twin, 'utf8');
  await start(relative(scene.root, twin));
  let now: string | undefined;
  try {
    now = readFileSync(twin, 'utf8');
  } catch {
    now = undefined;
  }
  if (now === old) report.refusedTwins.push(`${scene.kind}: a command could not change ${twin}`);
}

/** A child may work beside a governing folder, never in it. */
async function attackByChild(scene: GoverningScene): Promise<void> {
  const path = relative(scene.root, scene.path);
  if (!scene.isFolder || path.startsWith('..') || scene.prefix !== '') return;
  const before = scene.fingerprint();
  scene.reset();
  const name = basename(scene.path);
  for (const folder of [
    path,
    `${path}/`,
    `${path}/hooks`,
    `to-${name}`,
    `to-${name}/hooks`,
    `to-folder/${name}`,
    `plain-folder/../${path}`,
  ]) {
    report.attacks++;
    const child = await scene.session
      .openChild({ agentId: 'x', folder, tools: { type: 'inherit_allowlist' } })
      .catch((thrown: unknown) => thrown as { code?: string });
    if (!('close' in child)) {
      if (child.code !== 'E_POLICY')
        report.hits.push(`${scene.kind}: child in ${folder} was refused with ${child.code}`);
      continue;
    }
    report.hits.push(`${scene.kind}: child in ${folder}`);
    await child.close({ children: 'end' });
  }
  report.twins++;
  const twin = relative(scene.root, join(dirname(scene.path), 'twin-folder'));
  const child = await scene.session.openChild({ agentId: 'y', folder: twin, tools: { type: 'inherit_allowlist' } });
  const written = await child.call('file_write', { path: 'fresh.txt', content: 'x' });
  if (!written.ok) report.refusedTwins.push(`${scene.kind}: child in ${twin}`);
  await child.close({ children: 'end' });
  if (scene.fingerprint() !== before) report.hits.push(`${scene.kind} changed by a child`);
}

for (const place of PLACES) {
  const scene = await openScene(kind, place);
  if (scene === undefined) continue;
  report.scenes++;
  try {
    await attackByTools(scene);
    await attackByCommand(scene);
    await attackByChild(scene);
  } finally {
    await scene.dispose();
  }
}
process.stdout.write(JSON.stringify(report));
