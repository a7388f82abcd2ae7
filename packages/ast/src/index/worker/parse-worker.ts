/**
 * The process that parses for bulk indexing: jobs come in, packed facts go out, in the order of the jobs. It opens no
 * files of a workspace. A failure of the parser itself is not caught: it ends the process, and the pool starts another.
 * The end of its input ends it too, however its parent came to an end.
 */
import { readSync, writeSync } from 'node:fs';
import { createEngine } from '../../symbols/engine.ts';
import { type Frame, FrameReader, writeFrame } from './frames.ts';
import { type ParseJob, type ParseOutcome, parseOutcome, READY } from './parse-outcome.ts';

const [INPUT, OUTPUT] = [0, 1];

function jobOf({ head, blocks }: Frame): ParseJob {
  const [bytes = new Uint8Array(0), earlier] = blocks;
  return { path: String(head['path']), language: String(head['language']), bytes, earlier };
}

function frameOf(outcome: ParseOutcome): Frame {
  if ('skipped' in outcome) return { head: outcome, blocks: [] };
  return { head: {}, blocks: [outcome.packed, outcome.columns] };
}

function send(frame: Frame): void {
  const bytes = writeFrame(frame);
  for (let at = 0; at < bytes.length; ) at += writeSync(OUTPUT, bytes, at);
}

function* jobs(): Generator<ParseJob, void> {
  const reader = new FrameReader();
  for (;;) {
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) yield jobOf(frame);
    const count = readSync(INPUT, reader.room());
    if (count === 0) return;
    reader.wrote(count);
  }
}

const engine = createEngine();
send({ head: { [READY]: true }, blocks: [] });
for (const job of jobs()) send(frameOf(await parseOutcome(engine, job)));
