/**
 * Change sets and the content they speak of, in one database of the state folder (0600).
 *
 * A set is written in one small transaction before its call is answered. When another process holds the database, the set
 * waits in memory and is written a moment later: no call waits for it. Content is kept by digest and checked when it is read.
 */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { CallStore, ChangeSet, ChangeStatus, ChangeStore } from '../../changes/change-set.ts';
import { readContent } from '../descriptors/file-content.ts';
import { sha256Hex } from '../digest.ts';
import { errnoCode } from '../errno-error.ts';
import type { StateFolder } from '../state/state-folder.ts';

export interface StoreBounds {
  /** Content of larger files is not kept. */
  readonly maxFileBytes: number;
  /** Of all content; above that the oldest sets are forgotten. */
  readonly maxBytes: number;
}

const FILE = 'changes.db';
const RETRY_MS = 25;
const DEFAULT_LIMIT = 50;
/** Sets that wait for the database; more are dropped, oldest first. */
const MAX_WAITING = 1000;
const SCHEMA = `
  PRAGMA auto_vacuum = INCREMENTAL;
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS change_set (seq INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, at INTEGER NOT NULL,
    session TEXT NOT NULL, status TEXT NOT NULL, body TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS change_set_age ON change_set (at);
  CREATE TABLE IF NOT EXISTS content (digest TEXT PRIMARY KEY, used INTEGER NOT NULL, bytes BLOB NOT NULL);
  CREATE INDEX IF NOT EXISTS content_age ON content (used);`;

/** Opened with the first change. */
export function createChangeStore(state: StateFolder, bounds: StoreBounds): ChangeStore {
  return new SqliteChangeStore(state, bounds);
}

class SqliteChangeStore implements ChangeStore {
  readonly #state: StateFolder;
  readonly #bounds: StoreBounds;
  #tables: Tables | undefined;
  #contents = new Map<string, Uint8Array>();
  #sets = new Map<string, ChangeSet>();
  #retry: NodeJS.Timeout | undefined;

  constructor(state: StateFolder, bounds: StoreBounds) {
    this.#state = state;
    this.#bounds = bounds;
  }

  forCall(mayKeep: (bytes: Uint8Array) => boolean = () => true): CallStore {
    return callStore(this, { mayKeep, maxFileBytes: this.#bounds.maxFileBytes });
  }

  bytes(digest: string): Uint8Array | undefined {
    const waiting = this.#contents.get(digest);
    if (waiting !== undefined) return waiting;
    const found = this.#open().find.get(digest)?.['bytes'] as Uint8Array | undefined;
    return found !== undefined && sha256Hex(found) === digest ? found : undefined;
  }

  put(set: ChangeSet, contents: ReadonlyMap<string, Uint8Array> = new Map()): void {
    for (const [digest, bytes] of contents) this.#contents.set(digest, bytes);
    this.#sets.set(set.change_id, set);
    if (this.#sets.size > MAX_WAITING) this.#sets.delete(this.#sets.keys().next().value ?? '');
    this.#flush();
  }

  get(change_id: string): ChangeSet | undefined {
    return this.#sets.get(change_id) ?? setOf(this.#open().get.get(change_id));
  }

  list({ session_id, status, limit = DEFAULT_LIMIT }: Parameters<ChangeStore['list']>[0] = {}): readonly ChangeSet[] {
    this.#flush();
    const wanted = [session_id ?? null, session_id ?? null, status ?? null, status ?? null, limit];
    return this.#open()
      .list.all(...wanted)
      .flatMap((row) => setOf(row) ?? []);
  }

  setStatus(change_id: string, status: ChangeStatus): void {
    const set = this.get(change_id);
    if (set !== undefined) this.put({ ...set, status });
  }

  prune({ beforeMs, maxBytes = this.#bounds.maxBytes }: Parameters<ChangeStore['prune']>[0]): { removed: number } {
    const { dropBefore, dropContent, oldest, total, vacuum } = this.#open();
    let removed = beforeMs === undefined ? 0 : Number(dropBefore.run(beforeMs).changes);
    for (dropContent.run(); Number(total.get()?.['bytes'] ?? 0) > maxBytes; dropContent.run()) {
      const cut = oldest.get()?.['at'] as number | undefined;
      if (cut === undefined) break;
      removed += Number(dropBefore.run(cut + 1).changes);
    }
    vacuum();
    return { removed };
  }

  close(): void {
    clearTimeout(this.#retry);
    if (this.#sets.size > 0) this.#flush();
    this.#tables?.close();
    this.#tables = undefined;
  }

  #open(): Tables {
    this.#tables ??= openTables(this.#state);
    return this.#tables;
  }

  /** No caller is there to be told; the next set that is put tries again and says what is wrong. */
  #flushLater(): void {
    this.#retry = undefined;
    try {
      this.#flush();
    } catch {
      // The state folder itself is unusable.
    }
  }

  #flush(): void {
    if (this.#sets.size === 0) return;
    try {
      this.#open().write([...this.#sets.values()], this.#contents);
      this.#sets.clear();
      this.#contents = new Map();
    } catch (thrown) {
      // Held by another process, or the disk is full: tried again, and given up with the process.
      if (errnoCode(thrown) === undefined && !isSqliteError(thrown)) throw thrown;
      this.#retry ??= setTimeout(() => this.#flushLater(), RETRY_MS).unref();
    }
  }
}

interface CallBounds {
  readonly maxFileBytes: number;
  mayKeep(bytes: Uint8Array): boolean;
}

function callStore(store: ChangeStore, { maxFileBytes, mayKeep }: CallBounds): CallStore {
  let contents = new Map<string, Uint8Array>();
  const keepBytes = (digest: string, bytes: Uint8Array): boolean => {
    if (bytes.length > maxFileBytes || !mayKeep(bytes)) return false;
    contents.set(digest, bytes);
    return true;
  };
  return {
    keepBytes,
    async keepFile(digest, file) {
      const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      if (fstatSync(fd).size > maxFileBytes) {
        closeSync(fd);
        return false;
      }
      const { bytes, sha256 } = await readContent(fd);
      return sha256 === digest && keepBytes(digest, bytes);
    },
    bytes: (digest) => contents.get(digest) ?? store.bytes(digest),
    put(set) {
      store.put(set, contents);
      contents = new Map();
    },
    get: (id) => store.get(id),
    list: (filter) => store.list(filter),
    setStatus: (id, status) => store.setStatus(id, status),
  };
}

function isSqliteError(thrown: unknown): boolean {
  return thrown instanceof Error && (thrown as { code?: unknown }).code === 'ERR_SQLITE_ERROR';
}

type Tables = ReturnType<typeof openTables>;

function openTables(state: StateFolder) {
  const database = new DatabaseSync(state.file(FILE), { timeout: 0 });
  database.exec(SCHEMA);
  const prepare = (sql: string) => database.prepare(sql);
  const putSet = prepare(`INSERT INTO change_set (id, at, session, status, body) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET status = excluded.status, body = excluded.body`);
  const putContent = prepare(`INSERT INTO content VALUES (?, ?, ?)
    ON CONFLICT (digest) DO UPDATE SET used = max(used, excluded.used)`);
  return {
    find: prepare('SELECT bytes FROM content WHERE digest = ?'),
    get: prepare('SELECT body FROM change_set WHERE id = ?'),
    list: prepare(`SELECT body FROM change_set WHERE (? IS NULL OR session = ?) AND (? IS NULL OR status = ?)
      ORDER BY at DESC, seq DESC LIMIT ?`),
    oldest: prepare('SELECT at FROM change_set ORDER BY at LIMIT 1 OFFSET (SELECT count(*) / 10 FROM change_set)'),
    total: prepare('SELECT sum(length(bytes)) AS bytes FROM content'),
    dropBefore: prepare('DELETE FROM change_set WHERE at < ?'),
    // Content is never older than the newest set that speaks of it.
    dropContent: prepare('DELETE FROM content WHERE used < coalesce((SELECT min(at) FROM change_set), 9e15)'),
    vacuum: () => database.exec('PRAGMA incremental_vacuum'),
    write(sets: readonly ChangeSet[], contents: ReadonlyMap<string, Uint8Array>): void {
      database.exec('BEGIN IMMEDIATE');
      try {
        const newest = Math.max(...sets.map(({ at }) => at));
        for (const [digest, bytes] of contents) putContent.run(digest, newest, bytes);
        for (const set of sets) putSet.run(set.change_id, set.at, set.session_id, set.status, JSON.stringify(set));
        database.exec('COMMIT');
      } catch (thrown) {
        database.exec('ROLLBACK');
        throw thrown;
      }
    },
    close: () => database.close(),
  };
}

function setOf(row: Record<string, unknown> | undefined): ChangeSet | undefined {
  return row === undefined ? undefined : (JSON.parse(row['body'] as string) as ChangeSet);
}
