/** npm, pnpm, yarn and bun: only scripts that stand in package.json become commands. */
import type { JsonObject } from '@tool-runtime/protocol';
import { type ChosenScripts, chooseScripts, objectAt, parseObject, textAt } from '../choose-scripts.ts';
import { commandSet } from '../command-set.ts';
import type { Ecosystem, EcosystemFacts, FolderView, ProjectCommands } from '../detected-project.ts';

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
/** Names get into command lines. */
const PLAIN_NAME = /^[A-Za-z0-9][\w:.-]{0,60}$/;
const CALLS = /\b(?:npm|pnpm|yarn|bun|node)(?: --run| run-script| run)? +([\w:.-]+)/g;
/** They take names of scripts as arguments, with a star for many. */
const SCRIPT_RUNNERS = /\b(?:npm-run-all|run-s|run-p|concurrently)\b/;

export const node: Ecosystem = { name: 'node', detect: detectNode };

function detectNode(view: FolderView): EcosystemFacts | undefined {
  const text = view.read('package.json');
  if (text === undefined) return undefined;
  const manifest = parseObject(text);
  const packageManager = managerOf(view, manifest);
  const scripts = objectAt(manifest, 'scripts');
  const usesTypes =
    view.exists('tsconfig.json') ||
    ['dependencies', 'devDependencies'].some((key) => 'typescript' in objectAt(manifest, key));
  return {
    languages: [usesTypes ? 'typescript' : 'javascript'],
    packageManager,
    commands: runCommands(scriptsOf(scripts), packageManager, view.folder),
    testGlobs: TEST_GLOBS,
    scripts: Object.keys(scripts)
      .filter((name) => PLAIN_NAME.test(name))
      .map((name) => runScript(name, packageManager, view.folder)),
  };
}

function managerOf(view: FolderView, manifest: JsonObject): string {
  const written = textAt(manifest, 'packageManager')?.split('@')[0] ?? '';
  if (Object.hasOwn(IN_FOLDER, written)) return written;
  return LOCKFILES.find(([file]) => view.exists(file))?.[1] ?? 'npm';
}

function runCommands({ build, test, lint, fmt }: ChosenScripts, manager: string, folder: string): ProjectCommands {
  const run = (name: string | undefined) => (name === undefined ? undefined : runScript(name, manager, folder));
  return commandSet({ build: run(build), test: run(test), lint: run(lint), fmt: run(fmt) });
}

function runScript(name: string, manager: string, folder: string): string {
  const place = folder === '' ? '' : ` ${IN_FOLDER[manager]}${folder}`;
  // `bun test` is bun's own runner and passes over the script.
  return name === 'test' && manager !== 'bun' ? `${manager}${place} test` : `${manager}${place} run ${name}`;
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
