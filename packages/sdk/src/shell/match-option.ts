/** Whether a word is a given option, in every spelling the program accepts. */
import { OPTION_SYNTAXES, type OptionRule, type ProgramRule } from './program-rule.ts';

export interface OptionMatch {
  /** The value, when it stands in the same word. */
  readonly attached?: string;
}

const MATCH: OptionMatch = {};

function attach(value: string): OptionMatch {
  return value === '' ? MATCH : { attached: value.replace(/^=/, '') };
}

/** `--name=value` → name without value; underscores are dashes for some programs and unknown to the rest. */
function splitLong(word: string): { readonly name: string; readonly match: OptionMatch } {
  const at = word.indexOf('=');
  const name = (at === -1 ? word : word.slice(0, at)).replaceAll('_', '-');
  return { name, match: at === -1 ? MATCH : { attached: word.slice(at + 1) } };
}

/** `--no-no-x` switches x on again where any number of dashes will do. */
function bareName(name: string): string {
  return name.replace(/^-+/, '').replace(/^(?:no-no-)+/i, '');
}

function matchLong(word: string, name: string, rule: ProgramRule, option: OptionRule): OptionMatch | undefined {
  const { abbreviates, anyDashes } = OPTION_SYNTAXES[rule.syntax ?? 'exact'];
  const written = splitLong(word);
  const given = anyDashes ? bareName(written.name) : written.name;
  const wanted = anyDashes ? bareName(name) : name;
  if (given === wanted) return written.match;
  const letters = given.replace(/^-+/, '').length;
  // One letter behind one dash is a short option, whatever it may abbreviate.
  const isCut = abbreviates && letters > 0 && (letters > 1 || word.startsWith('--')) && wanted.startsWith(given);
  return isCut && option.except?.includes(written.name) !== true ? written.match : undefined;
}

function isBundle(word: string, rule: ProgramRule): boolean {
  if (!OPTION_SYNTAXES[rule.syntax ?? 'exact'].anyDashes) return !word.startsWith('--');
  const letters = splitLong(word).name.replace(/^-+/, '');
  return letters.length === 1 || letters.split('').every((letter) => rule.bundleLetters?.includes(letter) === true);
}

function matchShort(word: string, letter: string, rule: ProgramRule): OptionMatch | undefined {
  if (!OPTION_SYNTAXES[rule.syntax ?? 'exact'].bundles) {
    const written = splitLong(word);
    return written.name.replace(/^--/, '-') === `-${letter}` ? written.match : undefined;
  }
  if (!isBundle(word, rule)) return undefined;
  const letters = word.replace(/^-+/, '');
  for (const [index, character] of letters.split('').entries()) {
    if (character === letter) return attach(letters.slice(index + 1));
    if (rule.valueLetters?.includes(character) === true) return undefined;
  }
  return undefined;
}

function matchBeginning(word: string, beginning: string, rule: ProgramRule): OptionMatch | undefined {
  const { anyDashes } = OPTION_SYNTAXES[rule.syntax ?? 'exact'];
  const given = word.replaceAll('_', '-');
  const begins = anyDashes ? bareName(given).startsWith(bareName(beginning)) : given.startsWith(beginning);
  return begins ? splitLong(word).match : undefined;
}

function matchName(word: string, name: string, rule: ProgramRule, option: OptionRule): OptionMatch | undefined {
  if (name.endsWith('*')) return matchBeginning(word, name.slice(0, -1), rule);
  return name.length === 2 ? matchShort(word, name.charAt(1), rule) : matchLong(word, name, rule, option);
}

/** Undefined when the word is not the option. */
export function matchOption(word: string, rule: ProgramRule, option: OptionRule): OptionMatch | undefined {
  if (word.length < 2 || !word.startsWith('-') || word === '--') return undefined;
  for (const name of option.names) {
    const match = matchName(word, name, rule, option);
    if (match !== undefined) return match;
  }
  return undefined;
}
