/**
 * A list of arguments without the secrets in it: values of telling options, headers, assignments and URLs.
 *
 * The one place that decides this, for whatever shows or records a command: the rest of it stays readable.
 */
import { REDACTED } from './find-values.ts';
import { PROGRAM_OPTIONS, type ProgramOptions, type ValueKind } from './option-secrets.ts';
import { redactHeader } from './redact-header.ts';
import { redactUrls } from './redact-url.ts';
import { isSecretName, isSecretVariable } from './secret-names.ts';

/** Hears the values that were taken out. */
export type OnSecret = (value: string) => void;

const HEADER_OPTION = /^(?:-H|--?(?:proxy-)?headers?)$/;
const COOKIE_OPTION = /^--cookie$/;
const PAIR_OPTION = /^--(?:proxy-)?(?:user|auth|basic-auth|userpwd)$/;
/** Options that name a secret of theirs without saying it: a file, or a name in a store. */
const NOT_A_VALUE =
  /^--?(?:no|without|with|show|print|generate|create|list|get|delete|revoke|rotate|ask|prompt|require)-/;
/** After `--secret` and `--auth` often comes a name: hidden from view, but too little to look for it elsewhere. */
const UNSURE_OPTION = /^--?(?:secret|auth|pat|sig|credentials?)$/;
const ASSIGNMENT = /^(-{0,2}[A-Za-z_][\w.:[\]-]*)(=)(.*)$/s;

export function redactWords(words: readonly string[], onSecret: OnSecret = () => {}): readonly string[] {
  let program: ProgramOptions = {};
  let expected: { readonly kind: ValueKind; readonly isSure: boolean } | undefined;
  return words.map((word) => {
    const taking = expected;
    expected = undefined;
    // An option in the place of a value is shown: nobody may hide one from the person who approves the command.
    if (taking !== undefined && !/^--[A-Za-z]/.test(word)) {
      return redactValue(word, taking.kind, taking.isSure ? onSecret : () => {});
    }
    program = PROGRAM_OPTIONS.get(word.slice(word.lastIndexOf('/') + 1)) ?? program;
    const kind = optionKind(word, program);
    if (kind !== undefined) {
      expected = { kind, isSure: !UNSURE_OPTION.test(word) };
      return word;
    }
    return redactWord(word, program, onSecret);
  });
}

/** What the word after this one is, where that is a secret. */
function optionKind(word: string, { options = {} }: ProgramOptions): ValueKind | undefined {
  if (!word.startsWith('-')) return undefined;
  if (Object.hasOwn(options, word)) return options[word];
  if (HEADER_OPTION.test(word)) return 'header';
  if (PAIR_OPTION.test(word)) return 'pair';
  if (COOKIE_OPTION.test(word)) return 'secret';
  const isLong = /^--?[A-Za-z][\w.-]{2,}$/.test(word) && !NOT_A_VALUE.test(word);
  return isLong && isSecretName(word) ? 'secret' : undefined;
}

function redactValue(value: string, kind: ValueKind, onSecret: OnSecret): string {
  if (value === '' || value === REDACTED) return value;
  if (kind === 'header') return redactHeader(value, onSecret) ?? redactUrls(value, onSecret);
  if (kind === 'pass') return value.startsWith('pass:') ? `pass:${hide(value.slice(5), onSecret)}` : value;
  if (kind === 'secret') return hide(value, onSecret);
  const at = value.search(/[:%,]/);
  return at === -1 ? value : value.slice(0, at + 1) + hide(value.slice(at + 1), onSecret);
}

function hide(value: string, onSecret: OnSecret): string {
  if (value === '') return value;
  onSecret(value);
  return REDACTED;
}

function redactWord(word: string, program: ProgramOptions, onSecret: OnSecret): string {
  const attached = redactAttached(word, program, onSecret);
  if (attached !== undefined) return attached;
  const [, name = '', equals = '', value = ''] = ASSIGNMENT.exec(word) ?? [];
  if (equals !== '') {
    const kind = assignedKind(name, program);
    if (kind !== undefined) return name + equals + redactValue(value, kind, onSecret);
  }
  return redactHeader(word, onSecret) ?? redactUrls(word, onSecret);
}

function assignedKind(name: string, program: ProgramOptions): ValueKind | undefined {
  const kind = optionKind(name, program);
  if (kind !== undefined || name.startsWith('--')) return kind;
  // `-Dpassword=…`, `-e TOKEN=…` as one word, `TOKEN=… program`, `http.extraHeader=…`.
  if (/header$/i.test(name)) return 'header';
  return isSecretVariable(name.replace(/^-[A-Za-z]?/, '')) ? 'secret' : undefined;
}

/** `-uname:password`, `-HAuthorization: …`, `-pPassword`. */
function redactAttached(word: string, { options = {}, attached = [] }: ProgramOptions, onSecret: OnSecret) {
  if (!/^-[A-Za-z]./.test(word)) return undefined;
  const flag = word.slice(0, 2);
  if (attached.includes(flag)) return flag + hide(word.slice(2), onSecret);
  const kind = Object.hasOwn(options, flag) ? options[flag] : flag === '-H' ? 'header' : undefined;
  return kind === undefined ? undefined : flag + redactValue(word.slice(2), kind, onSecret);
}
