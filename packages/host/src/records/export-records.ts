/** Rows as files: JSON lines and CSV for all of them, SARIF for refusals. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { RecordRow } from '@tool-runtime/protocol';

export const EXPORT_FORMATS = ['jsonl', 'csv', 'sarif'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv; charset=utf-8',
  sarif: 'application/sarif+json',
};

const COLUMNS = [
  'seq',
  'at_ms',
  'kind',
  'word',
  'tool',
  'decision',
  'rule',
  'code',
  'status',
  'session_id',
  'call_id',
  'client',
  'text',
] as const satisfies readonly (keyof RecordRow)[];

/** Ends the writer; stops early when its reader has left. */
export async function writePieces(writer: Writable, pieces: Iterable<string>): Promise<void> {
  const gone = new AbortController();
  writer.once('close', () => gone.abort());
  for (const piece of pieces) {
    if (writer.destroyed) return;
    if (!writer.write(piece)) await once(writer, 'drain', { signal: gone.signal }).catch(() => undefined);
  }
  writer.end();
}

/** In pieces, so that a long journal is never one string. */
export function* exportRows(rows: readonly RecordRow[], format: ExportFormat, version: string): Generator<string> {
  if (format === 'sarif') {
    yield JSON.stringify(sarifOf(rows, version));
    return;
  }
  if (format === 'csv') yield `${COLUMNS.join(',')}\r\n`;
  for (let at = 0; at < rows.length; at += 500) {
    const slice = rows.slice(at, at + 500);
    yield slice.map(format === 'csv' ? csvLine : (row) => `${JSON.stringify(row)}\n`).join('');
  }
}

function csvLine(row: RecordRow): string {
  return `${COLUMNS.map((name) => csvCell(row[name])).join(',')}\r\n`;
}

/** A spreadsheet takes text that begins like a formula for one. */
function csvCell(value: string | number | undefined): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function sarifOf(rows: readonly RecordRow[], version: string): object {
  const found = rows.filter(({ decision }) => decision === 'deny' || decision === 'ask');
  const rules = [...new Set(found.map(ruleOf))];
  return {
    $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
    version: '2.1.0',
    runs: [
      {
        tool: { driver: { name: 'tool-runtime', version, rules: rules.map((id) => ({ id })) } },
        results: found.map((row) => ({
          ruleId: ruleOf(row),
          level: row.decision === 'deny' ? 'error' : 'note',
          message: { text: row.text === '' ? ruleOf(row) : row.text },
          properties: {
            seq: row.seq,
            at_ms: row.at_ms,
            tool: row.tool,
            session_id: row.session_id,
            call_id: row.call_id,
          },
        })),
      },
    ],
  };
}

function ruleOf({ rule, code }: RecordRow): string {
  return rule ?? code ?? 'unknown';
}
