/**
 * Tells listeners what a command prints while it runs: whole lines, a few times a second.
 *
 * A chatty command must not spend its time on being watched, so of a burst only the newest part is reported; the answer and
 * the artifact have all of it. Events are for people who watch: escape sequences are taken out here, and the port they
 * leave through masks what looks like a secret, which is recognised only when it is not cut in two.
 */
import { StringDecoder } from 'node:string_decoder';
import { stripVTControlCharacters } from 'node:util';
import type { ToolContext } from '../../contracts/tool.ts';

const EVERY_MS = 100;
const MAX_CHARS = 8 * 1024;
const MESSAGE_CHARS = 200;

type StreamName = 'stdout' | 'stderr';

interface Pending {
  readonly decoder: StringDecoder;
  text: string;
}

export class OutputReporter {
  readonly #context: Pick<ToolContext, 'progress'>;
  readonly #pending: Readonly<Record<StreamName, Pending>> = {
    stdout: { decoder: new StringDecoder('utf8'), text: '' },
    stderr: { decoder: new StringDecoder('utf8'), text: '' },
  };
  #toldAt = performance.now();
  #late: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(context: Pick<ToolContext, 'progress'>) {
    this.#context = context;
  }

  add(stream: StreamName, chunk: Uint8Array): void {
    const pending = this.#pending[stream];
    // Only what could still be told is decoded: more than that, so that a word that is cut here is not told.
    const newest = chunk.subarray(-4 * MAX_CHARS);
    pending.text = (pending.text + pending.decoder.write(Buffer.from(newest))).slice(-2 * MAX_CHARS);
    const early = this.#toldAt + EVERY_MS - performance.now();
    if (early <= 0) this.#tellLines();
    // The next output may be long in coming.
    else if (!this.#isClosed) this.#late ??= setTimeout(() => this.#tellLines(), early).unref();
  }

  /** The last of it: also the last line, which may have no end. */
  flush(): void {
    this.close();
    for (const name of ['stdout', 'stderr'] as const) this.#tell(name, this.#pending[name].text.length);
  }

  /** Tells nothing more by itself. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#late);
  }

  #tellLines(): void {
    clearTimeout(this.#late);
    this.#late = undefined;
    for (const name of ['stdout', 'stderr'] as const) this.#tell(name, this.#pending[name].text.lastIndexOf('\n') + 1);
  }

  #tell(stream: StreamName, end: number): void {
    if (end === 0) return;
    const pending = this.#pending[stream];
    const text = newestWords(stripVTControlCharacters(pending.text.slice(0, end)));
    pending.text = pending.text.slice(end);
    this.#toldAt = performance.now();
    const lines = text.trimEnd();
    const message = lines.slice(lines.lastIndexOf('\n') + 1).slice(-MESSAGE_CHARS);
    this.#context.progress(0, message, { stream, chunk: text });
  }
}

/** No more than may be told, from the beginning of a word on. */
function newestWords(text: string): string {
  if (text.length <= MAX_CHARS) return text;
  const newest = text.slice(-MAX_CHARS);
  return newest.slice(newest.search(/\s/) + 1);
}
