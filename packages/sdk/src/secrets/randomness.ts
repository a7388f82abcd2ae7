/** Whether a value looks as if a machine drew it, as opposed to words, paths, names and stand-ins. */

const MIN_LENGTH = 12;
const MIN_BITS_A_CHARACTER = 3;
const MIN_DIGITS = 1;
const MIN_LETTERS = 2;
/** Neighbours of different class (small letter, capital, digit): words keep to one class for long. */
const MIN_CHANGES = 4;
const MIN_CHANGES_A_CHARACTER = 0.2;

const STAND_IN =
  /change[_-]?me|example|placeholder|your[_-]|dummy|sample|redacted|fake|mock|insert|replace|x{4}|\*{3}|\.{3}|12345678|abcdefg|deadbeef|0{8}/i;
/** Taken from elsewhere at run time, or not a value at all. */
const REFERENCE =
  /\$\{|\{\{|\$\(|<[^>]{0,64}>|%[A-Z_]{2,30}%|^\$[A-Za-z_]|process\.env|environ|getenv|env\.|:\/\/|^\.{0,2}\//i;

export function looksRandom(value: string): boolean {
  if (value.length < MIN_LENGTH) return false;
  const { digits, letters, changes } = countClasses(value);
  if (digits < MIN_DIGITS || letters < MIN_LETTERS) return false;
  if (changes < Math.max(MIN_CHANGES, value.length * MIN_CHANGES_A_CHARACTER)) return false;
  return bitsPerCharacter(value) >= MIN_BITS_A_CHARACTER && !STAND_IN.test(value) && !REFERENCE.test(value);
}

const DIGIT = 1;
const CAPITAL = 2;
const SMALL = 3;
const OTHER = 0;

function countClasses(value: string): { readonly digits: number; readonly letters: number; readonly changes: number } {
  let [digits, letters, changes, previous] = [0, 0, 0, OTHER];
  for (let at = 0; at < value.length; at++) {
    const current = classOf(value.charCodeAt(at));
    if (current === OTHER) continue;
    if (current === DIGIT) digits += 1;
    else letters += 1;
    // A word with a capital at its beginning is a word.
    if (previous !== OTHER && current !== previous && !(previous === CAPITAL && current === SMALL)) changes += 1;
    previous = current;
  }
  return { digits, letters, changes };
}

function classOf(code: number): number {
  if (code >= 48 && code <= 57) return DIGIT;
  if (code >= 65 && code <= 90) return CAPITAL;
  return code >= 97 && code <= 122 ? SMALL : OTHER;
}

/** Shannon entropy over the characters of the value itself. */
function bitsPerCharacter(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}
