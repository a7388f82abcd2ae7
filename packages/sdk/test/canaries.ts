/**
 * Values planted where secrets are given, and looked for wherever something comes out.
 *
 * Each place gets a value of its own, so that a find says where it came from. Spellings are made here and not with the
 * code under test.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Find {
  /** Where the value was planted. */
  readonly planted: string;
  readonly spelling: string;
  /** Where it came out. */
  readonly at: string;
  readonly around: string;
}

export class Canaries {
  readonly #planted = new Map<string, string>();
  readonly #guesses = new Set<string>();

  /** With characters that are spelled otherwise in JSON, URLs and base64, where the place can hold them. */
  plant(place: string, { plain = false, isGuess = false } = {}): string {
    const value = `cnry${randomBytes(9).toString('hex')}${plain ? '' : '/+"=~'}`;
    this.#planted.set(value, place);
    if (isGuess) this.#guesses.add(value);
    return value;
  }

  /** `guesses: false` leaves out those that only look like secrets by their place: answers may hold them. */
  find(at: string, said: unknown, { guesses = true } = {}): Find[] {
    const text =
      typeof said === 'string' ? said : Buffer.isBuffer(said) ? said.toString('latin1') : JSON.stringify(said);
    const wanted = [...this.#planted].filter(([value]) => guesses || !this.#guesses.has(value));
    return wanted.flatMap(([value, planted]) =>
      Object.entries(spellings(value)).flatMap(([spelling, form]) => {
        const index = text.indexOf(form);
        const around = text.slice(Math.max(0, index - 60), index + form.length + 20);
        return index === -1 ? [] : [{ planted, spelling, at, around }];
      }),
    );
  }

  /** Every byte below a folder, names of files too. */
  findBelow(folder: string, options: { readonly guesses?: boolean } = {}): Find[] {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
      const path = join(folder, name);
      const content = lstatSync(path).isFile() ? this.find(name, readFileSync(path), options) : [];
      return [...this.find('name of a file', name), ...content];
    });
  }
}

function spellings(value: string): Readonly<Record<string, string>> {
  const core = value.slice(0, 20);
  // The middle of the base64 text of something longer: the groups that depend on nothing but the value.
  const shifted = [1, 2, 3].map((by) =>
    Buffer.from('x'.repeat(by) + core)
      .toString('base64')
      .slice(4, -4),
  );
  return {
    raw: core,
    json: JSON.stringify(value).slice(1, -1),
    percent: encodeURIComponent(value),
    ...Object.fromEntries(shifted.map((form, at) => [`base64 ${at}`, form])),
  };
}
