/** The newest calls that pass a filter, and how many there are: a page of them, and what is told of changes since. */
import type { CallPage, CallRow, CallsChanged } from '@tool-runtime/protocol';

export type CallNews = NonNullable<CallsChanged['workspaces']>[number];

export interface CallList {
  /** Newest first. */
  readonly calls: readonly CallRow[];
  readonly total: number;
  /** There are more: some went by uncounted. */
  readonly isAtLeast: boolean;
  /** Records that went by too fast to be told. */
  readonly leftOut: number;
}

/** As many as are asked for, and as the host tells after it was too much. */
export const MOST_CALLS = 300;
const MOST_COUNTED = 4096;

export class CallRows {
  readonly #test: (call: CallRow) => boolean;
  readonly #isFiltered: boolean;
  #page: CallPage | undefined;
  #rows = new Map<string, CallRow>();
  /** Whether the calls that began after the page are counted. */
  #counted = new Map<string, boolean>();
  #total = 0;
  #leftOut = 0;
  #isAtLeast = false;

  constructor(test: (call: CallRow) => boolean, isFiltered: boolean) {
    this.#test = test;
    this.#isFiltered = isFiltered;
  }

  begin(page: CallPage): void {
    this.#page = page;
    this.#rows = new Map(page.calls.map((call) => [call.call_id, call]));
    this.#counted = new Map();
    [this.#total, this.#leftOut, this.#isAtLeast] = [page.total, 0, false];
  }

  isAbout({ workspace }: CallNews): boolean {
    return this.#page?.workspace === workspace;
  }

  /** `whole`: nothing is missing any more. `same`: nothing more than before. `stale`: something is. */
  take(news: CallNews): 'whole' | 'same' | 'stale' {
    if (this.#page === undefined || !this.isAbout(news)) return 'same';
    if (this.#leftOut > 0 && !this.#isFiltered && news.calls.length >= MOST_CALLS) {
      // The newest calls are all there again. How many there were meanwhile is not known, and no request is made for it.
      const { total } = this.#list();
      this.begin({ ...this.#page, head: news.head, calls: [...news.calls], total });
      this.#isAtLeast = true;
      return 'whole';
    }
    for (const call of news.calls) this.#takeCall(call, this.#page.head);
    this.#leftOut += news.left_out;
    return news.is_complete && this.#counted.size <= MOST_COUNTED ? 'same' : 'stale';
  }

  /** Those that began at `from` or later. */
  list(from: number): CallList {
    const { calls, total } = this.#list();
    this.#rows = new Map(calls.map((call) => [call.call_id, call]));
    const shown = calls.filter(({ at_ms }) => at_ms >= from);
    return { calls: shown, total, isAtLeast: this.#isAtLeast || this.#leftOut > 0, leftOut: this.#leftOut };
  }

  #list(): { readonly calls: readonly CallRow[]; readonly total: number } {
    const sorted = [...this.#rows.values()].sort((one, other) => other.first_seq - one.first_seq);
    const calls = sorted.slice(0, MOST_CALLS);
    return { calls, total: Math.max(this.#total, calls.length) };
  }

  #takeCall(call: CallRow, head: number): void {
    const old = this.#rows.get(call.call_id);
    if (call.last_seq <= (old?.last_seq ?? head)) return;
    const fits = this.#test(call);
    if (fits) this.#rows.set(call.call_id, call);
    else this.#rows.delete(call.call_id);
    const isNew = call.first_seq > head;
    // An older one that is not in the list may be further back in it.
    if (!isNew && old === undefined) return;
    this.#total += Number(fits) - Number(isNew ? this.#counted.get(call.call_id) === true : true);
    if (isNew) this.#counted.set(call.call_id, fits);
  }
}
