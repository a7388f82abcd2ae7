/** What is shown, as the address says it: a screen, perhaps an id, and choices. Everything on a screen can be linked to. */
import { computed, signal } from '@preact/signals';

export const SCREENS = ['timeline', 'approvals', 'journal', 'metrics', 'tools', 'policy', 'family', 'fleet'] as const;
export type ScreenName = (typeof SCREENS)[number] | 'call';

export interface Place {
  readonly screen: ScreenName;
  readonly id: string;
  readonly choices: Readonly<Record<string, string>>;
}

function read(): Place {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  const [first = '', id = ''] = path.split('/', 2);
  const screen = first === 'call' || SCREENS.some((name) => name === first) ? (first as ScreenName) : 'timeline';
  return { screen, id: decode(id), choices: Object.fromEntries(new URLSearchParams(query)) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A hand-written address; what is there is what was meant.
    return text;
  }
}

export const place = signal<Place>(read());
export const choice = (name: string): string => place.value.choices[name] ?? '';
export const screenName = computed(() => place.value.screen);

addEventListener('hashchange', () => {
  place.value = read();
});

type Choices = Readonly<Record<string, string | undefined>>;

export function addressOf(screen: ScreenName, id = '', choices: Choices = {}): string {
  const given = Object.entries(choices).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const query = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  return `#/${screen}${id === '' ? '' : `/${encodeURIComponent(id)}`}${query}`;
}

export function go(screen: ScreenName, id = '', choices: Choices = {}): void {
  location.hash = addressOf(screen, id, choices);
}

/** Changes choices of this screen without a step in the history of the browser. */
export function choose(choices: Choices): void {
  const { screen, id, choices: old } = place.value;
  history.replaceState(null, '', addressOf(screen, id, { ...old, ...choices }));
  place.value = read();
}
