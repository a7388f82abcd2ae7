/**
 * How far the events of a session were seen, so that a new connection resumes there.
 *
 * A listener may ask for older ones. Until the host has answered that, live events still come and do not count: should
 * the connection break just then, the older ones are still to be had.
 */
export class EventPosition {
  #last: number | undefined;
  #rewind: number | undefined;

  /** Where to resume; undefined when nothing was seen or asked for. */
  get after(): number | undefined {
    return this.#rewind ?? this.#last;
  }

  /** Older events that were asked for and have not begun to come. */
  get wanted(): number | undefined {
    return this.#rewind;
  }

  saw(id: number): void {
    this.#last = Math.max(id, this.#last ?? 0);
  }

  rewindTo(after: number): void {
    this.#rewind = Math.min(after, this.#rewind ?? after);
  }

  /** The host has begun to send from where it was asked to. */
  resumed(): void {
    if (this.#rewind !== undefined) this.#last = this.#rewind;
    this.#rewind = undefined;
  }

  reset(): void {
    this.#last = undefined;
    this.#rewind = undefined;
  }
}
