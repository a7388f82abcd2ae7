/**
 * What a command does that its program's rules refuse.
 *
 * Where a program could read a word in two ways, both are checked: a word after an option may be its value or an
 * operand. The answer may refuse too much; a pattern that spells the command out lifts it.
 */
import { joinArgv } from './join-argv.ts';
import { OPTION_SYNTAXES, type OptionRule, type ProgramRule, type SubcommandRule } from './program-rule.ts';

export interface Fault {
  readonly reason:
    | 'refused_program'
    | 'interpreter'
    | 'missing_option'
    | 'refused_option'
    | 'refused_subcommand'
    | 'refused_argument';
  /** What a pattern must do to lift it: be the whole command, end with `$`, or do that and spell `text` out. */
  readonly needs: 'exact' | 'anchored' | 'spelled';
  /** The offending words in canonical form. */
  readonly text: string;
  readonly why: string;
  readonly next?: string;
}

/** Absolute, in a home folder, on a drive, or climbing. `-` is standard input: it comes from outside, too. */
function isOutside(value: string): boolean {
  return value === '-' || /^(?:[/\\~]|[A-Za-z]:)/.test(value) || value.split(/[/\\]/).includes('..');
}

function isRefusedValue(value: string, when: OptionRule['when']): boolean {
  if (when === undefined) return true;
  return when === 'outside' ? isOutside(value) : when.test(value);
}

/** `cargo +nightly` counts: an operand may still follow. */
function isOption(word: string): boolean {
  return word.length > 1 && (word.startsWith('-') || word.startsWith('+'));
}

/** Whether the word may be the value of the option before it. */
function mayBeValue(argv: readonly string[], index: number): boolean {
  const before = argv[index - 1] ?? '';
  return index > 1 && isOption(before) && before !== '--' && !before.includes('=');
}

/** How many words may hold options, the program included. */
function optionsEnd(argv: readonly string[], rule: ProgramRule): number {
  const { endsAtDashes } = OPTION_SYNTAXES[rule.syntax ?? 'exact'];
  if (rule.endsBehind !== undefined && argv[1] === rule.endsBehind) return 2;
  for (let index = 1; index < argv.length; index++) {
    const word = argv[index] ?? '';
    if (endsAtDashes && word === '--') return index;
    // `-` as an operand is judged before what follows it is left alone.
    if (rule.endsAtOperand && !isOption(word) && !mayBeValue(argv, index)) return index + 1;
  }
  return argv.length;
}

function optionFault(words: readonly string[], index: number, rule: ProgramRule): Fault | undefined {
  const word = words[index] ?? '';
  for (const option of rule.options ?? []) {
    const match = matchOption(word, rule, option);
    if (match === undefined) continue;
    const value = match.attached ?? (option.takesValue ? words[index + 1] : undefined);
    if (!isRefusedValue(value ?? '', option.when)) continue;
    const offending = value === undefined || match.attached !== undefined ? [word] : [word, value];
    return { reason: 'refused_option', needs: 'spelled', text: joinArgv(offending), why: option.why };
  }
  return undefined;
}

/** `tar xCf dir file`: values follow in the order of their letters, so any of them may be the one. */
function bareBundleFault(argv: readonly string[], rule: ProgramRule): Fault | undefined {
  const first = argv[1];
  if (rule.bareBundle === undefined || first === undefined || isOption(first)) return undefined;
  for (const letter of first) {
    for (const value of argv.slice(2, 2 + first.length).concat('')) {
      const fault = optionFault([`-${letter}`, value], 0, rule);
      if (fault !== undefined) return { ...fault, text: joinArgv([first]) };
    }
  }
  return undefined;
}

function isSubcommand(word: string, name: string, rule: ProgramRule, subcommand: SubcommandRule): boolean {
  if (word === name) return true;
  const { abbreviates } = OPTION_SYNTAXES[rule.syntax ?? 'exact'];
  return abbreviates && word !== '' && name.startsWith(word) && subcommand.except?.includes(word) !== true;
}

/**
 * Indices of the words that may be the subcommand: the first operand, and what may only be an option's value before it.
 * `npm -- exec` is still `exec`.
 */
function subcommandIndices(argv: readonly string[]): number[] {
  const indices: number[] = [];
  for (let index = 1; index < argv.length; index++) {
    if (isOption(argv[index] ?? '')) continue;
    indices.push(index);
    if (!mayBeValue(argv, index)) break;
  }
  return indices;
}

function subcommandFaults(argv: readonly string[], rule: ProgramRule): Fault[] {
  const rules = rule.subcommands ?? [];
  const faults: Fault[] = [];
  for (const index of rules.length === 0 ? [] : subcommandIndices(argv)) {
    const word = argv[index] ?? '';
    for (const subcommand of rules) {
      for (const name of subcommand.names) {
        const [first = '', second] = name.split(' ');
        if (!isSubcommand(word, first, rule, subcommand)) continue;
        if (second !== undefined && !argv.slice(index + 1).includes(second)) continue;
        const text = joinArgv(second === undefined ? [word] : [word, second]);
        faults.push({ reason: 'refused_subcommand', needs: 'spelled', text, why: subcommand.why });
      }
    }
  }
  return faults;
}

function wordFault(word: string, rule: ProgramRule): Fault | undefined {
  const found = rule.words?.find(({ matches }) => matches.test(word));
  return found && { reason: 'refused_argument', needs: 'spelled', text: joinArgv([word]), why: found.why };
}

function wholeFaults(argv: readonly string[], rule: ProgramRule): Fault[] {
  const faults: Fault[] = [];
  const text = joinArgv(argv.slice(0, 1));
  if (rule.whole !== undefined) {
    const { needs, ...why } = rule.whole;
    faults.push({ reason: needs === 'exact' ? 'refused_program' : 'interpreter', needs, text, ...why });
  }
  if (rule.firstArgument !== undefined && argv[1] !== rule.firstArgument.word) {
    const { word, why } = rule.firstArgument;
    faults.push({ reason: 'missing_option', needs: 'exact', text, why, next: `give ${word} as its first argument` });
  }
  return faults;
}

/** All faults, the gravest first. */
export function findFaults(argv: readonly string[], rule: ProgramRule): Fault[] {
  const end = optionsEnd(argv, rule);
  const faults: (Fault | undefined)[] = [...wholeFaults(argv, rule), bareBundleFault(argv, rule)];
  for (let index = 1; index < end; index++) {
    faults.push(optionFault(argv, index, rule), wordFault(argv[index] ?? '', rule));
  }
  return [...faults, ...subcommandFaults(argv, rule)].filter((fault) => fault !== undefined);
}

interface OptionMatch {
  /** The value, when it is in the same word. */
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

/**
 * Whether a word is a given option, in every spelling the program accepts.
 *
 * Undefined when the word is not the option.
 */
function matchOption(word: string, rule: ProgramRule, option: OptionRule): OptionMatch | undefined {
  if (word.length < 2 || !word.startsWith('-') || word === '--') return undefined;
  for (const name of option.names) {
    const match = matchName(word, name, rule, option);
    if (match !== undefined) return match;
  }
  return undefined;
}
