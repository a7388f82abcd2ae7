/** Nothing in the repository may know the machine it was written on or where packages were downloaded from. */
import type { Finding } from './finding.ts';
import type { Tree } from './read-tree.ts';

const TRACES: readonly { readonly pattern: RegExp; readonly what: string; readonly next: string }[] = [
  {
    pattern: /(?:(?<=file:\/\/)|(?<![\w.~/*-]))\/(?:(?:work|root)(?=\/)|(?:home|Users)\/[A-Za-z][\w.-]*)/g,
    what: 'Absolute path of a machine',
    next: 'Use a path relative to the root, or a temporary folder',
  },
  {
    pattern: /\b(?:registry|npm)\.(?:npmjs|yarnpkg|npmmirror|taobao)\.\w+|\bregistry\s*=\s*https?:/g,
    what: 'Host of a package registry',
    next: 'Leave the registry to the machine that installs',
  },
];

export function checkMachineTraces(tree: Pick<Tree, 'texts'>): Finding[] {
  return tree.texts.flatMap((file) => [
    ...TRACES.flatMap(({ pattern, what, next }) =>
      [...file.text.matchAll(pattern)].map((match) =>
        fail(file.path, lineAt(file.text, match.index), `${what}: ${match[0]}`, next),
      ),
    ),
    ...judgeLock(file.path, file.text),
  ]);
}

function judgeLock(file: string, text: string): Finding[] {
  if (!file.endsWith('package-lock.json')) return [];
  const at = text.search(/"resolved":\s*"http/);
  if (at < 0) return [];
  const next = 'Write the lockfile with omit-lockfile-registry-resolved=true';
  return [fail(file, lineAt(text, at), 'The lockfile names download addresses', next)];
}

function fail(file: string, line: number, what: string, next: string): Finding {
  return { level: 'fail', check: 'machine-traces', file, line, what, next };
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
