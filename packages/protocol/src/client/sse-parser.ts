/**
 * Server-sent events out of text that comes in pieces, by the rules of the HTML standard.
 *
 * A piece may end anywhere, also between CR and LF. An event cut off by the end of the stream does not count.
 */
import { ToolError } from '../primitives/errors.ts';

export interface ServerSentEvent {
  readonly data: string;
  /** `message` when the stream names none. */
  readonly event: string;
  /** The last one the stream gave, which may be that of an earlier event. */
  readonly id: string;
}

export class SseParser {
  readonly #maxLength: number;
  #rest = '';
  #isFirst = true;
  #endedWithCr = false;
  #data: string[] = [];
  #length = 0;
  #event = '';
  #id = '';

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** The events this piece completes. Throws when one grows over the limit. */
  push(piece: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    let text = this.#rest + this.#withoutJoints(piece);
    // A CR at the very end may be half of a line end: it ends its line now, and a LF that follows is left out.
    for (let end = text.search(/[\r\n]/); end !== -1; end = text.search(/[\r\n]/)) {
      const isPair = text.startsWith('\r\n', end);
      this.#endedWithCr = !isPair && end === text.length - 1 && text.endsWith('\r');
      this.#readLine(text.slice(0, end), events);
      text = text.slice(end + (isPair ? 2 : 1));
    }
    this.#rest = text;
    if (this.#rest.length + this.#length > this.#maxLength) throw tooLarge(this.#maxLength);
    return events;
  }

  #withoutJoints(piece: string): string {
    if (piece === '') return piece;
    let text = piece;
    if (this.#isFirst && text.startsWith('\ufeff')) text = text.slice(1);
    if (this.#endedWithCr && text.startsWith('\n')) text = text.slice(1);
    this.#isFirst = false;
    this.#endedWithCr = false;
    return text;
  }

  #readLine(line: string, events: ServerSentEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0) {
        events.push({ data: this.#data.join('\n'), event: this.#event === '' ? 'message' : this.#event, id: this.#id });
      }
      this.#data = [];
      this.#length = 0;
      this.#event = '';
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') {
      this.#data.push(value);
      this.#length += value.length;
    } else if (field === 'event') this.#event = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
  }
}

function tooLarge(limit: number): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `Event of the host is larger than the limit: ${limit}`, {
    details: { reason: 'too_large', limit },
  });
}
