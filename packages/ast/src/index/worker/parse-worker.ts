/**
 * The process that parses for bulk indexing: jobs come in, packed facts go out, in the order of the jobs. It opens no
 * files of a workspace. A failure of the parser itself is not caught: it ends the process, and the pool starts another.
 * The end of its input ends it too, however its parent came to an end.
 */
import { readSync, writeSync } from 'node:fs';
import { createEngine } from '../../symbols/engine.ts';
import { type Frame, FrameReader, frameBytes } from './frames.ts';
import { type ParseJob, type ParseOutcome, parseOutcome, READY } from './parse-outcome.ts';

const [INPUT, OUTPUT] = [0, 1];
/** Answers go out together, because each write wakes the index; it must not wait for long, or for many bytes, though. */
const FEW_ANSWERS = 8;
const FEW_BYTES = 64 * 1024;
const SHORT_MS = 20;
const CHUNK_BYTES = 64 * 1024;

function jobOf({ head, blocks }: Frame): ParseJob {
  const [bytes = new Uint8Array(0), earlier] = blocks;
  return { path: String(head['path']), language: String(head['language']), bytes, earlier };
}

function frameOf(outcome: ParseOutcome): Frame {
  if ('skipped' in outcome) return { head: outcome, blocks: [] };
  return { head: {}, blocks: [outcome.packed, outcome.columns] };
}

class Answers {
  #waiting: Uint8Array[] = [];
  #count = 0;
  #bytes = 0;
  #since = 0;

  put(frame: Frame): void {
    if (this.#count === 0) this.#since = performance.now();
    for (const piece of frameBytes(frame)) {
      this.#waiting.push(piece);
      this.#bytes += piece.byteLength;
    }
    this.#count += 1;
    const isDue = this.#count === FEW_ANSWERS || this.#bytes >= FEW_BYTES || performance.now() - this.#since > SHORT_MS;
    if (isDue) this.send();
  }

  send(): void {
    const bytes = Buffer.concat(this.#waiting, this.#bytes);
    [this.#waiting, this.#count, this.#bytes] = [[], 0, 0];
    for (let at = 0; at < bytes.length; ) at += writeSync(OUTPUT, bytes, at);
  }
}

/** Answers are sent before it waits for another job. */
function* jobs(answers: Answers): Generator<ParseJob, void> {
  const reader = new FrameReader();
  for (;;) {
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) yield jobOf(frame);
    answers.send();
    const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const count = readSync(INPUT, chunk);
    if (count === 0) return;
    reader.add(chunk.subarray(0, count));
  }
}

const engine = createEngine();
const answers = new Answers();
answers.put({ head: { [READY]: true }, blocks: [] });
for (const job of jobs(answers)) answers.put(frameOf(await parseOutcome(engine, job)));
