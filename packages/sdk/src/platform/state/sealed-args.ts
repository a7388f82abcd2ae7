/**
 * Arguments of calls in files of their own, one for each day, encrypted with AES-256-GCM.
 *
 * Calls only put their arguments on a list. A few times a second the list becomes one encrypted frame at the end of the
 * file, without waiting for the disk: what a crash takes is missing and is counted as missing. Nothing in the journal
 * refers to these files, so deleting them breaks no check; the digests in the journal show whether they were altered.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { closeSync, constants, lstatSync, mkdirSync, readdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { Clock } from '../../contracts/clock.ts';
import type { ArgsKeeper, NotKept, SealedCall } from '../../contracts/sealed-args.ts';
import { inState } from '../descriptors/state-safety.ts';
import { openChecked, readStateFile } from './state-file.ts';

const FOLDER = 'sealed-args';
export const SEALING_PURPOSE = 'tool-runtime sealed args v1';
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const LENGTH_BYTES = 4;
const FLUSH_AFTER_MS = 250;
const MAX_WAITING_BYTES = 1024 * 1024;
const MAX_WAITING_CALLS = 256;
const NAME = /^(\d{4}-\d{2}-\d{2})\.sealed$/;
/** Every frame begins with it, so that those behind a damaged one are found. */
const MARK = Buffer.from('TRSEAL1\n');
const DAY_MS = 24 * 60 * 60 * 1000;

export interface SealedArgs {
  /** Arguments in which the redactor would change something are not kept. */
  forSession(session: SealingSession): ArgsKeeper;
  /** Writes what waits. */
  flush(): void;
  /** Of this day or later, each file in its order. What was damaged or altered is left out. */
  read(sinceMs?: number): Iterable<SealedCall>;
  /** Deletes files whose day ended before. */
  prune(beforeMs: number): void;
  close(): void;
}

export interface SealingSession {
  readonly isNarrowed: boolean;
  readonly redactor: SecretFinder;
}

/** What it needs of the redactor of a session. */
interface SecretFinder {
  /** Secrets that are known to be some; `json` gives the same value back when it holds none. */
  readonly known: { readonly isEmpty: boolean; json(value: JsonObject): JsonValue };
  redactText(text: string): string;
}

export interface SealedArgsOptions {
  /** Path of the state folder. */
  readonly state: string;
  /** For this purpose alone. */
  readonly key: Buffer;
  readonly clock: Pick<Clock, 'now'>;
  /** False: nothing is kept; what is there can still be read. */
  readonly isKeeping: boolean;
  readonly maxBytes: number;
  report(thrown: unknown): void;
}

interface Waiting {
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonObject | NotKept;
  readonly session: SealingSession;
}

/** Call id, tool, whether the session was narrowed, and the arguments or the reason why they were not kept. */
type Entry = readonly [string, string, 0 | 1, JsonObject | NotKept];

export function openSealedArgs(options: SealedArgsOptions): SealedArgs {
  const folder = join(options.state, FOLDER);
  const { key } = options;
  let waiting: Waiting[] = [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    bytes = 0;
    try {
      append(folder, `${dayOf(options.clock.now())}.sealed`, seal(batch.map(entryOf).join('\n'), key));
    } catch (thrown) {
      // The calls are on record; only judging them again is lost.
      options.report(thrown);
    }
  };
  return {
    forSession: (session) => ({
      keep({ callId, tool, args }) {
        if (!options.isKeeping) return;
        const size = sizeOf(args, options.maxBytes);
        waiting.push({ callId, tool, args: keptArgs(args, size > options.maxBytes, session), session });
        bytes += size;
        if (bytes > MAX_WAITING_BYTES || waiting.length >= MAX_WAITING_CALLS) flush();
        else timer ??= setTimeout(flush, FLUSH_AFTER_MS).unref();
      },
    }),
    flush,
    *read(sinceMs = 0) {
      flush();
      for (const { name, day } of files(folder)) {
        if (Date.parse(day) + DAY_MS <= sinceMs) continue;
        for (const text of frames(readStateFile(join(folder, name)) ?? Buffer.alloc(0), key)) yield* callsIn(text);
      }
    },
    prune(beforeMs) {
      for (const { name, day } of files(folder)) {
        if (Date.parse(day) + DAY_MS <= beforeMs) inState(() => rmSync(join(folder, name), { force: true }));
      }
    },
    close: flush,
  };
}

function keptArgs(args: JsonObject, isTooLarge: boolean, session: SealingSession): JsonObject | NotKept {
  if (isTooLarge) return 'too_large';
  const { known } = session.redactor;
  return !known.isEmpty && known.json(args) !== args ? 'secret' : args;
}

/** Masks would be judged in place of what was sent, so arguments that would need one are left out as a whole. */
function entryOf({ callId, tool, args, session }: Waiting): string {
  const text = JSON.stringify(args);
  const kept = session.redactor.redactText(text) === text ? text : JSON.stringify('secret' satisfies NotKept);
  return `[${JSON.stringify(callId)},${JSON.stringify(tool)},${session.isNarrowed ? 1 : 0},${kept}]`;
}

/** About as many bytes as the text will have; stops counting above the limit. */
function sizeOf(value: JsonValue | undefined, limit: number): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 4;
  let size = 2;
  for (const name in value) {
    size += name.length + 2 + sizeOf((value as JsonObject)[name], limit);
    if (size > limit) break;
  }
  return size;
}

function seal(text: string, key: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(SEALING_PURPOSE));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(sealed.length);
  return Buffer.concat([MARK, length, nonce, sealed, cipher.getAuthTag()]);
}

/** What is damaged, altered or half written counts as not kept. */
function* frames(bytes: Buffer, key: Buffer): Generator<string> {
  let at = bytes.indexOf(MARK);
  while (at >= 0) {
    const frame = readFrame(bytes, at + MARK.length, key);
    if (frame !== undefined) yield frame.text;
    at = bytes.indexOf(MARK, frame?.end ?? at + MARK.length);
  }
}

function readFrame(
  bytes: Buffer,
  at: number,
  key: Buffer,
): { readonly text: string; readonly end: number } | undefined {
  const begin = at + LENGTH_BYTES + NONCE_BYTES;
  if (begin > bytes.length) return undefined;
  const tag = begin + bytes.readUInt32BE(at);
  const end = tag + TAG_BYTES;
  if (end > bytes.length) return undefined;
  const nonce = bytes.subarray(at + LENGTH_BYTES, begin);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(
    Buffer.from(SEALING_PURPOSE),
  );
  decipher.setAuthTag(bytes.subarray(tag, end));
  try {
    return {
      text: Buffer.concat([decipher.update(bytes.subarray(begin, tag)), decipher.final()]).toString('utf8'),
      end,
    };
  } catch {
    return undefined;
  }
}

function* callsIn(text: string): Generator<SealedCall> {
  for (const line of text.split('\n')) {
    const [callId, tool, narrowed, kept] = JSON.parse(line) as Entry;
    const args = typeof kept === 'string' ? undefined : kept;
    yield { callId, tool, args, notKept: typeof kept === 'string' ? kept : undefined, isNarrowed: narrowed === 1 };
  }
}

function append(folder: string, name: string, frame: Buffer): void {
  inState(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = openChecked(join(folder, name), constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND);
    try {
      writeSync(file, frame);
    } finally {
      closeSync(file);
    }
  });
}

function files(folder: string): readonly { readonly name: string; readonly day: string }[] {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  return inState(() => readdirSync(folder).toSorted()).flatMap((name) => {
    const day = NAME.exec(name)?.[1];
    return day === undefined ? [] : [{ name, day }];
  });
}

function dayOf(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}
