/** Reads one language folder: its profile, checked, and the text of its queries. Broken data is a mistake of the package. */
import { hash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { inPackage } from '../contracts/package-folder.ts';
import { LANGUAGE_IDS } from './catalog.ts';
import { type LanguageProfile, profileSchema } from './profile.ts';

export interface LoadedProfile {
  readonly profile: LanguageProfile;
  readonly symbolsQuery: string;
  readonly localsQuery: string | undefined;
  /** Changes with the profile and with either query. */
  readonly digest: string;
}

export const LANGUAGES_FOLDER: URL = inPackage('languages/');

export function loadProfile(id: string, folder: URL = LANGUAGES_FOLDER): LoadedProfile {
  const profileText = readFileSync(new URL(`${id}/profile.json`, folder), 'utf8');
  const profile = profileSchema.parse(JSON.parse(profileText));
  if (profile.id !== id) throw new TypeError(`Language folder and profile id differ: ${id}, ${profile.id}`);
  const folders = [profile.queries_from, id].filter((one) => one !== undefined);
  const symbolsQuery = readQuery(folder, folders, 'symbols.scm') ?? '';
  const localsQuery = readQuery(folder, folders, 'locals.scm');
  const digest = hash('sha256', [profileText, symbolsQuery, localsQuery ?? ''].join('\0'));
  return { profile, symbolsQuery, localsQuery, digest };
}

/** The queries of all folders that have one, one after the other. */
function readQuery(folder: URL, ids: readonly string[], file: string): string | undefined {
  const urls = ids.map((id) => new URL(`${id}/${file}`, folder)).filter((url) => existsSync(url));
  return urls.length === 0 ? undefined : urls.map((url) => readFileSync(url, 'utf8')).join('\n');
}

/** All languages of the catalog, in its order. */
export function loadProfiles(): readonly LanguageProfile[] {
  return LANGUAGE_IDS.map((id) => loadProfile(id).profile);
}
