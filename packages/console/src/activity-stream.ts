/**
 * One stream of events for all pages of a browser. Browsers open six connections to a host at most, so with a stream for each
 * page the seventh page would wait forever.
 *
 * The page that holds the lock reads the stream and hands events on. When it closes, the next one takes over and asks for
 * what came after the last event it saw. The stream says which calls changed while any of the pages shows them.
 */
import type { EventMessage } from '@tool-runtime/protocol';
import { host, person } from './host.ts';

export type Link = 'connecting' | 'live' | 'broken';

export interface StreamReader {
  readonly signal: AbortSignal;
  /** Of the last event that was seen. */
  lastId(): number | undefined;
  onEvent(event: EventMessage): void;
  /** `live` also when the stream was opened anew: events may have gone by that did not say which calls changed. */
  onLink(link: Link): void;
}

export interface Stream {
  /** Whether this page shows calls. */
  wantCalls(wanted: boolean): void;
}

type News =
  | { readonly kind: 'event'; readonly event: EventMessage }
  | { readonly kind: 'link'; readonly link: Link }
  | { readonly kind: 'wants'; readonly page: string; readonly calls: boolean }
  /** Of a page that has just opened. */
  | { readonly kind: 'link?' }
  /** Of a page that has just become the reader. */
  | { readonly kind: 'wants?' };

const NAME = 'console-activity';
const AGAIN_MS = 1000;

export function followStream({ signal, lastId, onEvent, onLink }: StreamReader): Stream {
  const others = new BroadcastChannel(NAME);
  const tell = (news: News): void => {
    if (!signal.aborted) others.postMessage(news);
  };
  const me = Math.random().toString(36).slice(2);
  /** Pages that show calls; of this page alone while another one is the reader. */
  const showing = new Set<string>();
  const own: { link: Link; isReader: boolean; hasCalls: boolean; connection: AbortController } = {
    link: 'connecting',
    isReader: false,
    hasCalls: false,
    connection: new AbortController(),
  };
  others.onmessage = ({ data }: MessageEvent<News>) => {
    if (data.kind === 'event') onEvent(data.event);
    else if (data.kind === 'link') onLink(data.link);
    else if (data.kind === 'wants?') tell({ kind: 'wants', page: me, calls: showing.has(me) });
    else if (own.isReader && data.kind === 'link?') tell({ kind: 'link', link: own.link });
    else if (own.isReader && data.kind === 'wants') note(data.page, data.calls);
  };
  signal.addEventListener(
    'abort',
    () => {
      own.connection.abort();
      others.close();
    },
    { once: true },
  );
  addEventListener('pagehide', () => tell({ kind: 'wants', page: me, calls: false }), { signal });

  function note(page: string, calls: boolean): void {
    if (calls) showing.add(page);
    else showing.delete(page);
    if (own.isReader && own.hasCalls !== showing.size > 0) connect();
  }

  function setLink(link: Link): void {
    if (signal.aborted) return;
    own.link = link;
    onLink(link);
    tell({ kind: 'link', link });
  }

  function connect(): void {
    own.connection.abort();
    if (signal.aborted || !person.value) return;
    const connection = new AbortController();
    own.connection = connection;
    own.hasCalls = showing.size > 0;
    const after = lastId();
    host
      .activity({
        signal: connection.signal,
        calls: own.hasCalls,
        ...(after === undefined ? {} : { after }),
        onEvent(event) {
          onEvent(event);
          tell({ kind: 'event', event });
        },
        onOpen: () => setLink('live'),
        onBreak: () => setLink('broken'),
      })
      .catch(() => {
        if (connection.signal.aborted) return;
        // Refused or never reached: the person may have been signed out, or the host is not up yet.
        setLink('broken');
        setTimeout(() => connection === own.connection && connect(), AGAIN_MS);
      });
  }

  const read = (): Promise<void> =>
    new Promise((resolve) => {
      own.isReader = true;
      signal.addEventListener('abort', () => resolve(), { once: true });
      tell({ kind: 'wants?' });
      connect();
    });

  // Pages over plain HTTP from another machine have no locks; each of them reads for itself.
  if (!('locks' in navigator)) void read();
  else {
    navigator.locks.request(NAME, { signal }, read).catch(() => {
      // Given up while it waited for its turn: the page is signed out.
    });
    tell({ kind: 'link?' });
  }
  return {
    wantCalls(calls) {
      note(me, calls);
      tell({ kind: 'wants', page: me, calls });
    },
  };
}
