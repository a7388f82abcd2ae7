/** From callbacks to an async iteration with one reader. What was pushed before the end is still read. */
export class MessageQueue<Item> implements AsyncIterableIterator<Item> {
  readonly #items: Item[] = [];
  #waiting: PromiseWithResolvers<IteratorResult<Item>> | undefined;
  #end: { readonly error: unknown } | undefined;

  get isEnded(): boolean {
    return this.#end !== undefined;
  }

  push(item: Item): void {
    if (this.#end !== undefined) return;
    if (this.#waiting === undefined) this.#items.push(item);
    else this.#takeWaiting()?.resolve({ done: false, value: item });
  }

  /** Only the first end counts. With an error the reader gets it as a throw. */
  end(error?: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    const waiting = this.#takeWaiting();
    if (waiting === undefined) return;
    if (error === undefined) waiting.resolve({ done: true, value: undefined });
    else waiting.reject(error);
  }

  async next(): Promise<IteratorResult<Item>> {
    if (this.#items.length > 0) return { done: false, value: this.#items.shift() as Item };
    if (this.#end === undefined) {
      this.#waiting ??= Promise.withResolvers();
      return this.#waiting.promise;
    }
    const { error } = this.#end;
    this.#end = { error: undefined };
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<Item>> {
    this.#items.length = 0;
    this.end();
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #takeWaiting(): PromiseWithResolvers<IteratorResult<Item>> | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }
}
