/** Any data as rows of `key: value`, for tools that do not say how their answer reads. Never escaped, never JSON. */
import { isJsonObject, type JsonValue } from '@tool-runtime/protocol';

const ROW = 160;

export function plainRows(value: JsonValue | undefined): string {
  return rowsOf(value).join('\n');
}

function rowsOf(value: JsonValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value.length === 0 ? ['none'] : value.flatMap(listItem);
  if (!isJsonObject(value)) return scalar(value).split('\n');
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return entries.length === 0 ? ['nothing'] : entries.flatMap(([key, inner]) => field(key, inner));
}

function field(key: string, value: JsonValue | undefined): readonly string[] {
  const row = oneLine(value);
  if (row !== undefined && key.length + row.length < ROW) return [`${key}: ${row}`];
  return [`${key}:`, ...rowsOf(value).map((line) => `  ${line}`)];
}

function listItem(value: JsonValue): readonly string[] {
  const row = oneLine(value);
  if (row !== undefined && row.length < ROW) return [`- ${row}`];
  return rowsOf(value).map((line, at) => (at === 0 ? `- ${line}` : `  ${line}`));
}

/** Undefined for what needs lines of its own. */
function oneLine(value: JsonValue | undefined): string | undefined {
  if (Array.isArray(value)) {
    if (value.length === 0) return 'none';
    const items = value.map((item: JsonValue) => (isPlain(item) ? scalar(item) : undefined));
    return items.every((item) => item !== undefined && !/[\n,]/.test(item)) ? items.join(', ') : undefined;
  }
  if (isJsonObject(value)) {
    const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
    if (!entries.every(([, inner]) => isPlain(inner) && !scalar(inner).includes('\n'))) return undefined;
    return entries.map(([key, inner]) => `${key}: ${scalar(inner)}`).join(', ');
  }
  const text = scalar(value);
  return text.includes('\n') ? undefined : text;
}

function isPlain(value: JsonValue | undefined): boolean {
  return typeof value !== 'object' || value === null;
}

function scalar(value: JsonValue | undefined): string {
  return value === null || value === undefined ? 'none' : String(value);
}
