/**
 * The rows of files on disk: one per file, with its columns and its packed facts.
 *
 * One block per file, because that is what the budgets leave: replacing sixty node rows took 1.25 ms and reading two
 * hundred 0.45 ms, replacing one block takes 0.06 ms and reading it 0.02 ms. The database belongs to the calling thread;
 * rows wait in memory and are written in transactions of a few milliseconds, so a sync never waits for the disk.
 * Losing a row costs a parse: if a row is missing or does not fit its card, the file is read again.
 */
import { crc32 } from 'node:zlib';
import type { Stamp } from './file-card.ts';
import { type FileWrite, prepareRows, type StoredFile, storedFile, writeRow } from './file-rows.ts';
import { isDamage, type OpenedDatabase, openDatabase, rebuilt } from './open-database.ts';
import { slices } from './time-slices.ts';

const WRITE_DELAY_MS = 20;
const RETRY_DELAY_MS = 250;
const PAGE_ROWS = 100;

export class RecordStore {
  readonly #folder: string | undefined;
  #opened: OpenedDatabase;
  #note: string | undefined;
  #statements: ReturnType<typeof prepareRows>;
  /** Null: to be removed. */
  readonly #pending = new Map<string, FileWrite | null>();
  readonly #touched = new Map<string, Stamp>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isClosed = false;

  constructor(folder: string | undefined) {
    this.#folder = folder;
    this.#opened = openDatabase(folder);
    this.#note = this.#opened.note;
    this.#statements = prepareRows(this.#opened.database);
  }

  get storage(): 'disk' | 'memory' {
    return this.#opened.storage;
  }

  get note(): string | undefined {
    return this.#note;
  }

  get pendingRows(): number {
    return this.#pending.size;
  }

  get #waiting(): number {
    return this.#pending.size + this.#touched.size;
  }

  /** Every stored row, in the order of paths, page by page. Rows that fail their checksum are left out. */
  *load(): Generator<StoredFile[], void> {
    for (let last = ''; ; ) {
      const rows = this.#guard(() => this.#statements.page.all(last, PAGE_ROWS)) ?? [];
      if (rows.length === 0) return;
      last = String(rows.at(-1)?.['path']);
      yield rows.map(storedFile).filter((row) => row !== undefined);
    }
  }

  find(path: string): StoredFile | undefined {
    const waiting = this.#pending.get(path);
    if (waiting !== undefined) return waiting ?? undefined;
    const row = this.#guard(() => this.#statements.find.get(path));
    return row === undefined ? undefined : storedFile(row);
  }

  /** The packed facts whose checksum is `crc`; undefined when they are not there any more. */
  facts(path: string, crc: number): Uint8Array | undefined {
    const waiting = this.#pending.get(path);
    if (waiting !== undefined) return waiting?.crc === crc ? waiting.facts : undefined;
    const bytes = this.#guard(() => this.#statements.facts.get(path))?.['facts'];
    return bytes instanceof Uint8Array && crc32(bytes) === crc ? bytes : undefined;
  }

  put(row: FileWrite): void {
    this.#later(row.path, row);
  }

  remove(path: string): void {
    this.#later(path, null);
  }

  /** The content was looked at and is what it was. */
  touch(path: string, stamp: Stamp): void {
    const waiting = this.#pending.get(path);
    if (waiting) this.#pending.set(path, { ...waiting, stamp });
    else if (stamp.settled) {
      this.#touched.set(path, stamp);
      this.#schedule(WRITE_DELAY_MS);
    }
  }

  setting(key: string): string | undefined {
    return this.#guard(() => this.#statements.setting.get(key))?.['value'] as string | undefined;
  }

  setSetting(key: string, value: string): void {
    this.#guard(() => this.#statements.setSetting.run(key, value));
  }

  /** Writes what waits, in slices. Resolves also when another program holds the database: then rows go on waiting. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      if (this.#waiting > 0) this.#schedule(RETRY_DELAY_MS);
    });
    return this.#writing;
  }

  async close(): Promise<void> {
    await this.flush();
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#opened.database.close();
  }

  #later(path: string, row: FileWrite | null): void {
    this.#pending.set(path, row);
    this.#touched.delete(path);
    this.#schedule(WRITE_DELAY_MS);
  }

  #schedule(delayMs: number): void {
    if (this.#isClosed || this.#timer !== undefined || this.#writing !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), delayMs).unref();
  }

  async #writeAll(): Promise<void> {
    const pace = slices();
    while (this.#waiting > 0) {
      if (!this.#writeSlice(() => pace.isDue())) return;
      await pace.pause();
    }
  }

  /** One transaction, until time is up. False when it could not be written. */
  #writeSlice(isDue: () => boolean): boolean {
    const { database } = this.#opened;
    const written = this.#guard(() => {
      database.exec('BEGIN IMMEDIATE');
      try {
        const paths = this.#writeUntil(isDue);
        database.exec('COMMIT');
        return paths;
      } catch (thrown) {
        if (database.isTransaction) database.exec('ROLLBACK');
        throw thrown;
      }
    });
    for (const path of written ?? []) if (!this.#pending.delete(path)) this.#touched.delete(path);
    return written !== undefined;
  }

  /** The paths of what it wrote. */
  #writeUntil(isDue: () => boolean): string[] {
    const { put, remove, touch } = this.#statements;
    const paths: string[] = [];
    for (const [path, row] of this.#pending) {
      if (row === null) remove.run(path);
      else writeRow(put, row);
      paths.push(path);
      if (isDue()) return paths;
    }
    for (const [path, { size, mtimeMs, identity }] of this.#touched) {
      touch.run(size, mtimeMs, identity, path);
      paths.push(path);
      if (isDue()) return paths;
    }
    return paths;
  }

  /** A damaged database is begun anew; any other trouble makes the answer undefined, which costs work and nothing else. */
  #guard<T>(use: () => T): T | undefined {
    try {
      return use();
    } catch (thrown) {
      if (isDamage(thrown)) this.#rebuild();
      return undefined;
    }
  }

  #rebuild(): void {
    this.#opened.database.close();
    this.#opened = rebuilt(this.#folder);
    this.#note = this.#opened.note;
    this.#statements = prepareRows(this.#opened.database);
  }
}
