/** npm, pnpm, yarn and bun: only scripts that stand in package.json become commands. */
import type { JsonObject } from '@tool-runtime/protocol';
import { type ChosenScripts, chooseScripts } from '../choose-scripts.ts';
import { commandSet } from '../command-set.ts';
import type { Ecosystem, EcosystemFacts, FolderView } from '../detected-project.ts';
import { objectAt, parseObject, textAt } from '../plain-object.ts';

const LOCKFILES: readonly (readonly [string, string])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
  ['npm-shrinkwrap.json', 'npm'],
];
/** How each is told to work in another folder. */
const IN_FOLDER: Readonly<Record<string, string>> = { npm: '--prefix ', pnpm: '--dir ', yarn: '--cwd ', bun: '--cwd=' };
const TEST_GLOBS = ['**/*.test.*', '**/*.spec.*', '**/__tests__/**'];
const CALLS = /\b(?:npm|pnpm|yarn|bun|node)(?: --run| run-script| run)? +([\w:.-]+)/g;
/** They take names of scripts as arguments, with a star for many. */
const SCRIPT_RUNNERS = /\b(?:npm-run-all|run-s|run-p|concurrently)\b/;

export const node: Ecosystem = { name: 'node', detect: detectNode };

function detectNode(view: FolderView): EcosystemFacts | undefined {
  const text = view.read('package.json');
  if (text === undefined) return undefined;
  const manifest = parseObject(text);
  const packageManager = managerOf(view, manifest);
  const usesTypes =
    view.exists('tsconfig.json') ||
    ['dependencies', 'devDependencies'].some((key) => 'typescript' in objectAt(manifest, key));
  return {
    languages: [usesTypes ? 'typescript' : 'javascript'],
    packageManager,
    commands: runCommands(scriptsOf(objectAt(manifest, 'scripts')), packageManager, view.folder),
    testGlobs: TEST_GLOBS,
  };
}

function managerOf(view: FolderView, manifest: JsonObject): string {
  const written = textAt(manifest, 'packageManager')?.split('@')[0] ?? '';
  if (Object.hasOwn(IN_FOLDER, written)) return written;
  return LOCKFILES.find(([file]) => view.exists(file))?.[1] ?? 'npm';
}

function runCommands(chosen: ChosenScripts, manager: string, folder: string): EcosystemFacts['commands'] {
  const place = folder === '' ? '' : ` ${IN_FOLDER[manager]}${folder}`;
  const run = (name: string | undefined) => (name === undefined ? undefined : `${manager}${place} run ${name}`);
  // `bun test` is bun's own runner and passes over the script.
  const test = chosen.test === 'test' && manager !== 'bun' ? `${manager}${place} test` : run(chosen.test);
  return commandSet({ build: run(chosen.build), test, lint: run(chosen.lint), fmt: run(chosen.fmt) });
}

function scriptsOf(scripts: JsonObject): ChosenScripts {
  return chooseScripts({
    has: (name) => textAt(scripts, name) !== undefined,
    textOf: (name) => wholeText(scripts, name, new Set()),
  });
}

/** With the scripts it calls and those that run before and after it. */
function wholeText(scripts: JsonObject, name: string, seen: Set<string>): string {
  const text = seen.has(name) ? undefined : textAt(scripts, name);
  if (text === undefined) return '';
  seen.add(name);
  const called = [`pre${name}`, `post${name}`, ...calledScripts(Object.keys(scripts), text)];
  return [text, ...called.map((other) => wholeText(scripts, other, seen))].filter((part) => part !== '').join('\n');
}

function calledScripts(names: readonly string[], text: string): readonly string[] {
  const called = [...text.matchAll(CALLS)].map((match) => match[1] ?? '');
  if (!SCRIPT_RUNNERS.test(text)) return called;
  const words = text.split(/[\s"'&|;]+/).map((word) => word.replace(/^npm:/, ''));
  const many = words.flatMap((word) => {
    const [start = ''] = word.split('*');
    return word.includes('*') ? names.filter((name) => name.startsWith(start)) : [];
  });
  return [...called, ...words, ...many];
}
