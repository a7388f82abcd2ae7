/** A running command as the streams vscode-jsonrpc reads and writes: no Node stream in between, output guarded first. */
import type { RunningCommand } from '@tool-runtime/sdk';
import {
  Disposable,
  Emitter,
  type MessageReader,
  type MessageWriter,
  type RAL,
  ReadableStreamMessageReader,
  WriteableStreamMessageWriter,
} from 'vscode-jsonrpc/node';
import { FrameGuard } from './frame-guard.ts';
import type { MessageBacklog } from './message-backlog.ts';

const NEVER = () => Disposable.create(() => {});

/** Output pushed by the command runner. It may begin before anyone listens: what came until then is kept. */
export class ServerOutput implements RAL.ReadableStream {
  readonly #guard = new FrameGuard();
  readonly #backlog: MessageBacklog;
  readonly #data = new Emitter<Uint8Array>();
  readonly #closed = new Emitter<void>();
  #early: Uint8Array[] | undefined = [];

  constructor(backlog: MessageBacklog) {
    this.#backlog = backlog;
  }

  readonly onError = NEVER;
  readonly onEnd = NEVER;
  readonly onClose: RAL.ReadableStream['onClose'] = (listener) => this.#closed.event(listener);

  readonly onData: RAL.ReadableStream['onData'] = (listener) => {
    const listening = this.#data.event(listener);
    for (const chunk of this.#early ?? []) this.#data.fire(chunk);
    this.#early = undefined;
    return listening;
  };

  /** Throws when the bytes are no frame, or too many; the reader then never sees them. */
  push(chunk: Uint8Array): void {
    this.#backlog.arrive(chunk.byteLength, this.#guard.accept(chunk));
    // The runner may reuse its buffer.
    const kept = Buffer.from(chunk);
    if (this.#early === undefined) this.#data.fire(kept);
    else this.#early.push(kept);
  }

  close(): void {
    this.#closed.fire();
  }
}

export function createReader(output: ServerOutput): MessageReader {
  const reader = new ReadableStreamMessageReader(output);
  // Its only effect would be a timer that keeps the process alive while a message is incomplete.
  reader.partialMessageTimeout = 0;
  return reader;
}

export function createWriter(command: Pick<RunningCommand, 'write' | 'endInput'>): MessageWriter {
  return new WriteableStreamMessageWriter({
    onClose: NEVER,
    onError: NEVER,
    onEnd: NEVER,
    write: (data: Uint8Array | string) => command.write(typeof data === 'string' ? Buffer.from(data, 'utf8') : data),
    end: () => command.endInput(),
  });
}
