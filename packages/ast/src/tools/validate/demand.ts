/** The words a rule may demand or forbid of a declaration. */
import { z } from 'zod';

const WORD = /^(?:docstring|test|return_type|(?:attr|call):\S(?:.*\S)?)$/;

export const demandSchema = z
  .string()
  .max(500)
  .regex(WORD, 'Unknown demand: use docstring, test, return_type, attr:<name> or call:<name>');

export interface Demand {
  readonly kind: 'docstring' | 'test' | 'return_type' | 'attr' | 'call';
  /** Of an attribute or a call. */
  readonly name: string;
}

export function parseDemand(word: string): Demand {
  const colon = word.indexOf(':');
  const kind = (colon === -1 ? word : word.slice(0, colon)) as Demand['kind'];
  return { kind, name: colon === -1 ? '' : word.slice(colon + 1) };
}

/** For people, after "Missing" or "Unwanted". */
export function describeDemand({ kind, name }: Demand, docLabel: string): string {
  switch (kind) {
    case 'docstring':
      return docLabel;
    case 'test':
      return 'test';
    case 'return_type':
      return 'return type';
    case 'attr':
      return `attribute ${name}`;
    case 'call':
      return `call of ${name}`;
  }
}
