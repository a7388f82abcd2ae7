/** Make: targets with the usual names. They mostly wrap what other ecosystems know, so they only fill gaps. */
import { chooseScripts } from '../choose-scripts.ts';
import { commandSet } from '../command-set.ts';
import type { Ecosystem, FolderView } from '../detected-project.ts';

const FILES = ['GNUmakefile', 'makefile', 'Makefile'];
const TARGETS = /^([A-Za-z0-9][\w.-]*(?: [A-Za-z0-9][\w.-]*)*) ?::?(?!=)([^=]*)$/;
const CONDITIONS = /^(?:ifn?eq|ifn?def|else|endif)\b/;
/** Names get into command lines; one with a dot is mostly a file. */
const PLAIN_NAME = /^[A-Za-z0-9][\w-]{0,60}$/;
const CALLS = /(?:\$\(MAKE\)|\$\{MAKE\}|\bmake) +([\w.:-]+)/g;

export const make: Ecosystem = {
  name: 'make',
  fillsGaps: true,
  detect(view) {
    const text = FILES.map((file) => view.read(file)).find((found) => found !== undefined);
    if (text === undefined) return undefined;
    const targets = readTargets(text);
    const textOf = (name: string) => wholeText(targets, name, new Set());
    const chosen = chooseScripts({ has: (name) => targets.has(name), textOf });
    const program = view.folder === '' ? 'make' : `make -C ${view.folder}`;
    const run = (name: string | undefined) => (name === undefined ? undefined : `${program} ${name}`);
    const other = (name: string) => (targets.has(name) ? name : undefined);
    return {
      languages: languagesOf(view),
      commands: commandSet({
        build: run(chosen.build ?? other('all')),
        test: run(chosen.test ?? other('check')),
        lint: run(chosen.lint),
        fmt: run(chosen.fmt),
      }),
      testGlobs: [],
      scripts: [...targets.keys()].filter((name) => PLAIN_NAME.test(name)).map((name) => `${program} ${name}`),
    };
  },
};

/** Target → its prerequisites, as calls, and its recipe. */
function readTargets(text: string): ReadonlyMap<string, string> {
  const targets = new Map<string, string>();
  let open: readonly string[] = [];
  for (const line of text.replaceAll('\\\n', ' ').split('\n')) {
    if (line.startsWith('\t')) {
      for (const name of open) targets.set(name, `${targets.get(name)}\n${line.replace(/^\t[@+-]*/, '')}`);
      continue;
    }
    const rule = withoutComment(line);
    if (rule === '' || CONDITIONS.test(rule)) continue;
    const [, names = '', prerequisites = ''] = TARGETS.exec(rule) ?? [];
    open = names.split(' ').filter((name) => name !== '');
    const calls = prerequisites.split(/\s+/).map((name) => `make ${name}`);
    for (const name of open) targets.set(name, [targets.get(name) ?? '', ...calls].join('\n'));
  }
  return targets;
}

function withoutComment(line: string): string {
  const at = line.indexOf('#');
  return (at < 0 ? line : line.slice(0, at)).trim();
}

function wholeText(targets: ReadonlyMap<string, string>, name: string, seen: Set<string>): string {
  const text = seen.has(name) ? undefined : targets.get(name);
  if (text === undefined) return '';
  seen.add(name);
  const called = [...text.matchAll(CALLS)].map((match) => wholeText(targets, match[1] ?? '', seen));
  return [text, ...called].join('\n');
}

function languagesOf(view: FolderView): readonly string[] {
  const sources = [...view.list(), ...view.list('src')];
  if (sources.some((name) => /\.(?:cc|cpp|cxx)$/.test(name))) return ['cpp'];
  return sources.some((name) => name.endsWith('.c')) ? ['c'] : [];
}
