/**
 * The key of this page: its half of the proof of who is signed in. The other half is a cookie that scripts cannot read.
 *
 * Imported before every schema, so it also tells zod not to make code from text, which the policy of the page refuses.
 */
import { config } from 'zod';

config({ jitless: true });

const KEY = 'console-key';
const HEADER = 'x-console-key';

/** For every request; nothing before the first sign-in. */
export function keyHeader(): Readonly<Record<string, string>> {
  const key = localStorage.getItem(KEY);
  return key === null ? {} : { [HEADER]: key };
}

export function hasKey(): boolean {
  return localStorage.getItem(KEY) !== null;
}

export function keepKey(key: string): void {
  localStorage.setItem(KEY, key);
}

export function dropKey(): void {
  localStorage.removeItem(KEY);
}
