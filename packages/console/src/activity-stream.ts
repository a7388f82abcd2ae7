/**
 * One stream of events for all pages of a browser. Browsers open six connections to a host at most, so with a stream for each
 * page the seventh page would wait forever.
 *
 * The page that holds the lock reads the stream and hands events on. When it closes, the next one takes over and asks for
 * what came after the last event it saw.
 */
import type { EventMessage } from '@tool-runtime/protocol';
import { host, person } from './host.ts';

export type Link = 'connecting' | 'live' | 'broken';

export interface StreamReader {
  readonly signal: AbortSignal;
  /** Of the last event that was seen. */
  lastId(): number | undefined;
  onEvent(event: EventMessage): void;
  onLink(link: Link): void;
}

type News =
  | { readonly kind: 'event'; readonly event: EventMessage }
  | { readonly kind: 'link'; readonly link: Link }
  | { readonly kind: 'question' };

const NAME = 'console-activity';
const AGAIN_MS = 1000;

export function followStream({ signal, lastId, onEvent, onLink }: StreamReader): void {
  const others = new BroadcastChannel(NAME);
  const tell = (news: News): void => others.postMessage(news);
  const own: { link: Link; isReader: boolean } = { link: 'connecting', isReader: false };
  others.onmessage = ({ data }: MessageEvent<News>) => {
    if (data.kind === 'event') onEvent(data.event);
    else if (data.kind === 'link') onLink(data.link);
    else if (own.isReader) tell({ kind: 'link', link: own.link });
  };
  signal.addEventListener('abort', () => others.close(), { once: true });

  function setLink(link: Link): void {
    if (signal.aborted) return;
    own.link = link;
    onLink(link);
    tell({ kind: 'link', link });
  }

  function connect(): void {
    if (signal.aborted || !person.value) return;
    const after = lastId();
    host
      .activity({
        signal,
        ...(after === undefined ? {} : { after }),
        onEvent(event) {
          onEvent(event);
          tell({ kind: 'event', event });
        },
        onOpen: () => setLink('live'),
        onBreak: () => setLink('broken'),
      })
      .catch(() => {
        // Refused or never reached: the person may have been signed out, or the host is not up yet.
        setLink('broken');
        setTimeout(connect, AGAIN_MS);
      });
  }

  const read = (): Promise<void> =>
    new Promise((resolve) => {
      own.isReader = true;
      signal.addEventListener('abort', () => resolve(), { once: true });
      connect();
    });

  // Pages over plain HTTP from another machine have no locks; each of them reads for itself.
  if (!('locks' in navigator)) {
    void read();
    return;
  }
  navigator.locks.request(NAME, { signal }, read).catch(() => {
    // Given up while it waited for its turn: the page is signed out.
  });
  tell({ kind: 'question' });
}
