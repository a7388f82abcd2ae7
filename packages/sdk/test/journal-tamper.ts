/**
 * A journal with everything in it, and every way to change its folder behind the runtime's back that we could think of:
 * each column of each row of each table, whole rows, whole tables, each file, the schema.
 */
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { JournalStore } from '../src/contracts/journal.ts';
import { openSqliteJournal } from '../src/journal/store/journal-sqlite.ts';
import { openStateFolder } from '../src/platform/state/state-folder.ts';
import { sampleIntent, sampleResult } from '../src/testing/sample-records.ts';

export interface Tampering {
  /** Begins with the table or the file, or says what is done to several. */
  readonly name: string;
  apply(folder: string): void;
}

export const SCOPE = 'idempotency:a';

/** Two archives, one of them pruned; answered, pending, forgotten and released keys; living and retired processes. */
export async function fillFolder(folder: string): Promise<void> {
  let now = 1_000;
  const store = openSqliteJournal(openStateFolder(folder), { clock: { now: () => now++, monotonic: () => 0 } });
  for (const id of ['living', 'gone']) store.enroll({ id, pid: process.pid, birth: `birth of ${id}` });
  await keyed(store, 'old');
  await store.rotate({ keepRecords: 0 });
  await store.prune({ keepArchives: 0 });
  await keyed(store, 'archived');
  await store.claim({ ...claimOf('released'), scope: 'dedupe' }, [sampleIntent('released')]);
  await store.release('dedupe', 'released', [sampleResult('released')]);
  await store.rotate({ keepRecords: 0 });
  await keyed(store, 'new', 'other');
  await store.claim({ ...claimOf('guard'), scope: 'dedupe' }, [sampleIntent('guard')]);
  await store.settle('dedupe', 'guard', { guarded: true }, [sampleResult('guard')]);
  await store.claim(claimOf('running'), [sampleIntent('running', { instance: 'living' })]);
  await store.append([sampleIntent('plain'), sampleResult('plain')]);
  store.retire('gone');
  await store.close();
}

export function claimOf(key: string) {
  return { scope: SCOPE, key, argsHash: 'h', callId: key, instance: 'living' };
}

export async function keyed(store: JournalStore, ...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await store.claim(claimOf(name), [sampleIntent(name, { instance: 'living' })]);
    await store.settle(SCOPE, name, { answer: name }, [sampleResult(name)]);
  }
}

export function editDatabase(folder: string, sql: string): void {
  const database = new DatabaseSync(join(folder, 'journal.db'));
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}

/** Leaves no files beside the database. */
export function openUnchanged(folder: string): DatabaseSync {
  const location = pathToFileURL(join(folder, 'journal.db'));
  location.searchParams.set('immutable', '1');
  return new DatabaseSync(location, { readOnly: true });
}

/** By area, for the journal as it lies in `folder`; `foreign` is the folder of another journal. */
export function tamperings(folder: string, foreign: string): ReadonlyMap<string, readonly Tampering[]> {
  const database = openUnchanged(folder);
  const tables = names(database, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  const files = readdirSync(folder).filter((name) => !name.endsWith('-wal') && !name.endsWith('-shm'));
  const areas = new Map([
    ...tables.map((table) => [`table ${table}`, tableTamperings(database, table)] as const),
    ['several tables', schemaTamperings(tables)],
    ['files', files.flatMap((name) => fileTamperings(name, foreign))],
  ]);
  database.close();
  return areas;
}

function tableTamperings(database: DatabaseSync, table: string): readonly Tampering[] {
  const rows = database.prepare(`SELECT * FROM ${table}`).all() as Readonly<Record<string, unknown>>[];
  const columns = names(database, `SELECT name FROM pragma_table_info('${table}')`);
  const keys = names(database, `SELECT name FROM pragma_table_info('${table}') WHERE pk > 0`);
  const found = rows.flatMap((row, at) => {
    const where = rowCondition(row);
    const other = rows[(at + 1) % rows.length];
    return [
      sql(`${table} row ${at} deleted`, `DELETE FROM ${table} WHERE ${where}`),
      sql(`${table} row ${at} doubled`, duplicate(table, columns, { keys, where })),
      ...columns.flatMap((column) => columnTamperings(table, { column, row, other, at })),
    ];
  });
  const emptied = rows.length === 0 ? [] : [sql(`${table} emptied`, `DELETE FROM ${table}`)];
  return [...found, ...emptied, sql(`${table} dropped`, `DROP TABLE ${table}`)];
}

interface Cell {
  readonly column: string;
  readonly row: Readonly<Record<string, unknown>>;
  readonly other: Readonly<Record<string, unknown>> | undefined;
  readonly at: number;
}

function columnTamperings(table: string, { column, row, other, at }: Cell): readonly Tampering[] {
  const value = row[column];
  const where = rowCondition(row);
  const put = (how: string, expression: string) =>
    sql(
      `${table}.${column} of row ${at} ${how}`,
      `UPDATE OR REPLACE ${table} SET ${column} = ${expression} WHERE ${where}`,
    );
  const others = ['NULL', "'x'", '1'].filter((text) => text !== literal(value));
  return [
    ...others.map((text) => put(`set to ${text}`, text)),
    ...(value === null ? [] : [put('changed', changed(value))]),
    ...(other === undefined || literal(other[column]) === literal(value)
      ? []
      : [put('copied from another row', literal(other[column])), swap(table, { column, row, other, at })]),
  ];
}

function swap(table: string, { column, row, other, at }: Cell & { readonly other: Readonly<Record<string, unknown>> }) {
  const [one, two] = [rowCondition(row), rowCondition(other)];
  return sql(
    `${table}.${column} of row ${at} exchanged with another row`,
    `CREATE TEMP TABLE swapped AS SELECT * FROM ${table} WHERE ${one} OR ${two};
     DELETE FROM ${table} WHERE ${one} OR ${two};
     UPDATE swapped SET ${column} = CASE WHEN ${one} THEN ${literal(other[column])} ELSE ${literal(row[column])} END;
     INSERT OR REPLACE INTO ${table} SELECT * FROM swapped`,
  );
}

function duplicate(
  table: string,
  columns: readonly string[],
  { keys, where }: { readonly keys: readonly string[]; readonly where: string },
): string {
  const last = keys.at(-1);
  const values = columns.map((name) =>
    name === last ? `iif(typeof(${name}) = 'integer', ${name} + 1000, ${name} || 'x')` : name,
  );
  return `INSERT OR REPLACE INTO ${table} SELECT ${values.join(', ')} FROM ${table} WHERE ${where}`;
}

function schemaTamperings(tables: readonly string[]): readonly Tampering[] {
  const empty = (some: readonly string[]) => some.map((name) => `DELETE FROM ${name}`).join(';');
  return [
    sql('blocks and archives emptied', empty(['block', 'archive'])),
    sql('all tables emptied', empty(tables)),
    sql('all tables but the processes emptied', empty(tables.filter((name) => name !== 'instance'))),
    sql('blocks, archives and claims emptied', empty(['block', 'archive', 'key_claim'])),
    ...[0, 1, 2, 3, 4, 6].map((version) => sql(`version ${version}`, `PRAGMA user_version = ${version}`)),
    ...[0, 3].map((version) =>
      sql(`a forged answer and version ${version}`, `${FORGE_ANSWER}; PRAGMA user_version = ${version}`),
    ),
    sql('emptied and made new', `${empty(tables)}; PRAGMA user_version = 0`),
    sql('the mark of a new journal forged', "INSERT INTO birth VALUES (x'00')"),
    sql('emptied, the mark forged', `${empty(tables)}; INSERT INTO birth VALUES (x'00')`),
    sql('an invented claim', INVENT_CLAIM),
    sql('an invented process', "INSERT INTO instance VALUES ('invented', 1, 'b', 5, NULL)"),
  ];
}

export const INVENT_CLAIM = `INSERT INTO key_claim (scope, key, args_hash, call_id, state, answer, settled_at)
  VALUES ('${SCOPE}', 'invented', 'h', 'invented', 'done', '{"answer":"forged"}', 5)`;

const FORGE_ANSWER = `UPDATE key_claim SET answer = '{"answer":"forged"}' WHERE state = 'done'`;

function fileTamperings(name: string, foreign: string): readonly Tampering[] {
  const change = (how: string, apply: (path: string) => void): Tampering => ({
    name: `${name.replace(/\d{2,}|[0-9a-f]{16}/g, '…')} ${how}`,
    apply: (folder) => apply(join(folder, name)),
  });
  return [
    change('deleted', (path) => rmSync(path)),
    change('emptied', (path) => truncateSync(path)),
    change('cut in half', (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2))),
    change('cut by one byte', (path) => truncateSync(path, readFileSync(path).length - 1)),
    change('replaced by garbage', (path) => writeFileSync(path, 'garbage '.repeat(1000))),
    change('replaced by a foreign one', (path) => {
      const others = readdirSync(foreign).filter((other) => other.split('-')[0] === name.split('-')[0]);
      cpSync(join(foreign, others.at(-1) ?? 'journal.db'), path);
    }),
  ];
}

function sql(name: string, text: string): Tampering {
  return { name, apply: (folder) => editDatabase(folder, text) };
}

function names(database: DatabaseSync, query: string): readonly string[] {
  return database
    .prepare(query)
    .all()
    .map(({ name }) => String(name));
}

function rowCondition(row: Readonly<Record<string, unknown>>): string {
  return Object.entries(row)
    .map(([name, value]) => `${name} IS ${literal(value)}`)
    .join(' AND ');
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (value instanceof Uint8Array) return `x'${Buffer.from(value).toString('hex')}'`;
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

function changed(value: unknown): string {
  if (value instanceof Uint8Array) return literal(value.map((byte, at) => (at === 0 ? byte ^ 1 : byte)));
  if (typeof value !== 'string') return `${value} + 1`;
  return literal(`${value.slice(0, -2)}${value.at(-2) === '7' ? '8' : '7'}${value.slice(-1)}`);
}
