/**
 * Which file names are source code, by the languages' own lists alone.
 *
 * The call pipeline asks this of every changed file, so no parser, and no schema of profiles, is loaded for it.
 */
import { readFileSync } from 'node:fs';
import { LANGUAGE_IDS } from '../profile/catalog.ts';
import { createLanguageDetector, type LanguageDetector, type LanguageNames } from '../profile/detect-language.ts';

/** Folder of the package's languages, from `src` as well as from `dist`. */
const LANGUAGES_FOLDER: URL = new URL('../../languages/', import.meta.url);

export function coveredNames(): (path: string) => boolean {
  let detector: LanguageDetector | undefined;
  return (path) => {
    detector ??= createLanguageDetector(LANGUAGE_IDS.map(readNames));
    return detector.detect(path) !== undefined;
  };
}

function readNames(id: string): LanguageNames {
  const text = readFileSync(new URL(`${id}/profile.json`, LANGUAGES_FOLDER), 'utf8');
  const { detect } = JSON.parse(text) as { readonly detect: Partial<LanguageNames['detect']> };
  return { id, detect: { ext: [], names: [], shebang: [], ...detect } };
}
