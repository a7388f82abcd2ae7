/** The way to the host: the typed client, with the key of this page on every request. The cookie goes along by itself. */
// First of all: see there.
import './page-key.ts';
import { signal } from '@preact/signals';
import type { ConsoleSession } from '@tool-runtime/protocol';
import { createHostClient, type FetchInit, type FetchLike } from '@tool-runtime/protocol/client';
import { dropKey, hasKey, keepKey, keyHeader } from './page-key.ts';

/** Undefined: not known yet. Null: signed out. */
export const person = signal<ConsoleSession | null | undefined>(undefined);
/** Why the sign-in failed, for the page that says so. */
export const signInProblem = signal('');

const keyed: FetchLike = async (url: string, init: FetchInit) => {
  const answer = await fetch(url, {
    ...init,
    credentials: 'same-origin',
    headers: { ...init.headers, ...keyHeader() },
  });
  if (answer.status === 401 && person.value) person.value = null;
  return answer;
};

export const host = createHostClient({ url: location.origin, fetch: keyed });

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** What to do next, where the host said so. */
export function nextOf(thrown: unknown): string | undefined {
  const details = (thrown as { details?: Record<string, unknown> } | undefined)?.details;
  return typeof details?.['next'] === 'string' ? details['next'] : undefined;
}

export function reasonOf(thrown: unknown): string | undefined {
  const details = (thrown as { details?: Record<string, unknown> } | undefined)?.details;
  return typeof details?.['reason'] === 'string' ? details['reason'] : undefined;
}

/** With a code in the fragment it signs in; else it sees whether the cookie still counts. The code leaves the address at once. */
export async function enter(): Promise<void> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  try {
    if (code !== undefined) {
      history.replaceState(null, '', '#/timeline');
      const { key, ...session } = await host.signIn(code);
      keepKey(key);
      person.value = session;
      return;
    }
    // Without a key there is nothing to ask about.
    person.value = hasKey() ? await host.consoleSession() : null;
  } catch (thrown) {
    signInProblem.value = code === undefined && reasonOf(thrown) === 'signed_out' ? '' : messageOf(thrown);
    person.value = null;
  }
}

export async function leave(): Promise<void> {
  try {
    await host.signOut();
  } finally {
    dropKey();
    signInProblem.value = '';
    person.value = null;
  }
}

export function may(scope: 'approve' | 'call'): boolean {
  return person.value?.scopes.includes(scope) === true;
}
