/**
 * Loaded into the host before anything else: a clock that can be set and a disk that can be slowed, both from outside.
 *
 * The system's own clock and disk stay as they are. What is slowed is every wait for the disk that Node knows of: fsync,
 * and the commits of SQLite, which hold the event loop just as a slow disk would. Workers get the same.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { StatementSync } from 'node:sqlite';

interface Control {
  /** Added to the time of day. */
  clockOffsetMs: number;
  /** Every wait for the disk takes up to so much longer. */
  diskDelayMs: number;
}

const LOOK_MS = 50;
const file = join(process.env['CHAOS_CONTROL'] ?? '', 'control.json');
const control: Control = { clockOffsetMs: 0, diskDelayMs: 0 };
const { readFileSync } = fs;

setInterval(() => {
  try {
    Object.assign(control, JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // Not there yet, or just being written: what was said last still counts.
  }
}, LOOK_MS).unref();

const RealDate = Date;
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [target.now() + control.clockOffsetMs] : args, newTarget),
  apply: (target) => new target(target.now() + control.clockOffsetMs).toString(),
  get: (target, name, receiver) => (name === 'now' ? shiftedNow : Reflect.get(target, name, receiver)),
});

function shiftedNow(): number {
  return RealDate.now() + control.clockOffsetMs;
}

const pause = new Int32Array(new SharedArrayBuffer(4));

function waitForDisk(): void {
  if (control.diskDelayMs > 0) Atomics.wait(pause, 0, 0, Math.random() * control.diskDelayMs);
}

/** The same function, later. */
function slowed<Args extends unknown[], Result>(real: (...args: Args) => Result) {
  return function (this: unknown, ...args: Args): Result {
    waitForDisk();
    return real.apply(this, args);
  };
}

fs.fsyncSync = slowed(fs.fsyncSync);
fs.fdatasyncSync = slowed(fs.fdatasyncSync);
syncBuiltinESMExports();
StatementSync.prototype.run = slowed(StatementSync.prototype.run) as typeof StatementSync.prototype.run;
