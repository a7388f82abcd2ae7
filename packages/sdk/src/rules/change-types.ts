/** The kinds of change that commit messages and branch names begin with, and how people write them instead. */
import { nearestName } from '../text/names.ts';

export const CHANGE_TYPES = [
  'build',
  'chore',
  'ci',
  'docs',
  'feat',
  'fix',
  'perf',
  'refactor',
  'revert',
  'style',
  'test',
] as const;
export type ChangeType = (typeof CHANGE_TYPES)[number];

/** First words that say which kind is meant, as a custom type or as the verb of a sentence. */
const WORDS: Readonly<Record<ChangeType, string>> = {
  build: 'builds dependency dependencies deps bump bumps bumped upgrade upgrades upgraded package packaging',
  chore: 'chores misc maintenance housekeeping cleanup release releases',
  ci: 'workflow workflows pipeline pipelines',
  docs: 'doc document documents documented documentation readme comment comments typo typos changelog',
  feat: `feature features add adds added adding implement implements implemented introduce introduces introduced new
    create creates created support supports supported allow allows allowed enable enables enabled`,
  fix: `fixes fixed fixing bug bugs bugfix bugfixes hotfix hotfixes patch repair repairs repaired resolve resolves
    resolved correct corrects corrected prevent prevents avoid avoids handle handles security`,
  perf: 'performance optimize optimizes optimized optimise optimised speed faster',
  refactor: `refactors refactored refactoring restructure rework reworked rename renames renamed move moves moved extract
    extracts extracted simplify simplifies simplified clean cleans cleaned remove removes removed delete deletes deleted
    replace replaces replaced`,
  revert: 'reverts reverted undo rollback',
  style: 'styles format formats formatted formatting lint linting whitespace',
  test: 'tests tested testing spec specs coverage',
};

const BY_WORD: ReadonlyMap<string, ChangeType> = new Map(
  CHANGE_TYPES.flatMap((type) => [type, ...WORDS[type].split(/\s+/)].map((word) => [word, type] as const)),
);

/** Undefined when the word is neither a type nor anything that means one. */
export function typeMeant(word: string): ChangeType | undefined {
  return BY_WORD.get(word.toLowerCase());
}

/** Also for a slip of the fingers. */
export function nearestType(word: string): ChangeType | undefined {
  const meant = typeMeant(word);
  if (meant !== undefined) return meant;
  const near = nearestName(word, CHANGE_TYPES);
  return CHANGE_TYPES.find((type) => type === near);
}
