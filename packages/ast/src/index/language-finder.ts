/**
 * Which language a file is in, and under which key its rows are stored.
 *
 * Where several languages claim an extension (`.h`), the files around decide: first those of the same folder, then all.
 */
import path from 'node:path';
import { isToolError } from '@tool-runtime/protocol';
import type { Workspace } from '@tool-runtime/sdk';
import { createGrammarStore } from '../parse/grammar-store.ts';
import { LANGUAGE_IDS } from '../profile/catalog.ts';
import { createLanguageDetector } from '../profile/detect-language.ts';
import { loadProfile } from '../profile/load-profile.ts';
import type { LanguageProfile } from '../profile/profile.ts';
import { LAYOUT_VERSION } from './facts-layout.ts';
import type { FileStat } from './file-card.ts';

type MaybePromise<T> = T | Promise<T>;

export interface LanguageFinder {
  /** By name alone. */
  byName(file: string): string | undefined;
  /** By name, else by the `#!` line of a file without an extension. */
  find(file: string, stat: FileStat): MaybePromise<string | undefined>;
  /** Files whose languages decide about their neighbours: all there are, or some more. */
  learn(files: readonly string[], which: 'all' | 'some'): void;
  /** Changes when a stored row of the language cannot be used any more. */
  parserKey(language: string): string;
  /** Whether syntax errors of the language count. */
  isBlocking(language: string): boolean;
}

/** A script starts with its `#!` line and is not large; anything else without an extension is left alone. */
const MAX_SCRIPT_BYTES = 256 * 1024;
const FIRST_LINE_BYTES = 200;
const MAX_SCRIPTS_KNOWN = 10_000;

export function createLanguageFinder(workspace: Workspace): LanguageFinder {
  const profiles = LANGUAGE_IDS.map((id) => loadProfile(id));
  const detector = createLanguageDetector(profiles.map(({ profile }) => profile));
  const { lock } = createGrammarStore();
  const keys = new Map(
    profiles.map(({ profile, digest }) => {
      const grammar = lock[profile.grammar]?.sha256 ?? '';
      return [profile.id, `${LAYOUT_VERSION}-${grammar.slice(0, 16)}-${digest.slice(0, 16)}`];
    }),
  );
  const blocking = new Set(
    profiles.filter(({ profile }) => profile.errors === 'blocking').map((one) => one.profile.id),
  );
  const disputed = disputedExtensions(profiles.map(({ profile }) => profile));
  const isDisputed = (file: string) => disputed.some((extension) => file.toLowerCase().endsWith(extension));
  const scripts = createScriptFinder(workspace, (file, firstLine) => detector.detect(file, { firstLine }));
  let neighbours: ReadonlySet<string> = new Set();
  let around: Map<string, readonly string[]> | undefined;

  function byName(file: string): string | undefined {
    if (!isDisputed(file)) return detector.detect(file);
    around ??= countAround(neighbours, (one) => (isDisputed(one) ? undefined : detector.detect(one)));
    const prefer = [...(around.get(path.posix.dirname(file)) ?? []), ...(around.get('') ?? [])];
    return detector.detect(file, { prefer });
  }

  return {
    byName,
    find: (file, stat) => byName(file) ?? (mayBeScript(file) ? scripts(file, stat) : undefined),
    learn(files, which) {
      if (disputed.length === 0) return;
      neighbours = which === 'all' ? new Set(files) : neighbours.union(new Set(files));
      around = undefined;
    },
    parserKey: (language) => keys.get(language) ?? '',
    isBlocking: (language) => blocking.has(language),
  };
}

function disputedExtensions(profiles: readonly LanguageProfile[]): string[] {
  const all = profiles.flatMap((profile) => profile.detect.ext);
  return [...new Set(all.filter((extension, place) => all.indexOf(extension) !== place))];
}

/** No extension, so that its first line may say more. */
export function mayBeScript(file: string): boolean {
  return !path.posix.basename(file).includes('.');
}

/** Reads the first line of a file once for as long as the file stays the same. */
function createScriptFinder(workspace: Workspace, detect: (file: string, firstLine: string) => string | undefined) {
  const known = new Map<string, { readonly stamp: string; readonly language: string | undefined }>();
  return async (file: string, { size, mtimeMs, identity }: FileStat): Promise<string | undefined> => {
    if (size > MAX_SCRIPT_BYTES) return undefined;
    const stamp = `${size} ${mtimeMs} ${identity}`;
    const before = known.get(file);
    if (before?.stamp === stamp) return before.language;
    const firstLine = await readFirstLine(workspace, file);
    const language = firstLine.startsWith('#!') ? detect(file, firstLine) : undefined;
    if (known.size >= MAX_SCRIPTS_KNOWN) known.clear();
    known.set(file, { stamp, language });
    return language;
  };
}

/** Empty for a file that cannot be read. */
async function readFirstLine(workspace: Workspace, file: string): Promise<string> {
  try {
    const { bytes } = await workspace.readFile(file, { maxBytes: FIRST_LINE_BYTES });
    return Buffer.from(bytes).toString('utf8').split('\n', 1)[0] ?? '';
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return '';
  }
}

/** The languages of each folder, the most frequent first; those of all files under the empty name. */
function countAround(
  files: Iterable<string>,
  languageOf: (file: string) => string | undefined,
): Map<string, readonly string[]> {
  const counts = new Map<string, Map<string, number>>();
  for (const file of files) {
    const language = languageOf(file);
    if (language === undefined) continue;
    for (const folder of [path.posix.dirname(file), '']) {
      const ofFolder = counts.get(folder) ?? new Map<string, number>();
      counts.set(folder, ofFolder.set(language, (ofFolder.get(language) ?? 0) + 1));
    }
  }
  return new Map(
    [...counts].map(([folder, ofFolder]) => [
      folder,
      [...ofFolder].sort((left, right) => right[1] - left[1]).map(([language]) => language),
    ]),
  );
}
