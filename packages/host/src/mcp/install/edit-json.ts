/**
 * Sets one member of a JSON file by changing its text in one place: comments, order, indentation, line ends and trailing
 * commas of everything else stay as they are.
 */
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { configProblem, placeOf } from './config-problem.ts';
import { type JsonNode, type JsonObjectNode, parseJsonTree, valueOfNode } from './json-tree.ts';

/** The new text; the same one when the member has this value already. Throws when there is no place for it. */
export function setJsonMember(text: string, path: readonly string[], value: JsonValue): string {
  const root = parseJsonTree(text);
  const changed = root === undefined ? text + newFile(text, nest(path, value)) : editNode({ text, root }, path, value);
  checkEdit(text, changed, path, value);
  return changed;
}

interface Document {
  readonly text: string;
  readonly root: JsonNode;
}

function editNode({ text, root }: Document, path: readonly string[], value: JsonValue): string {
  let node = root;
  for (const [depth, key] of path.entries()) {
    if (node.kind !== 'object') throw notAnObject(text, node, path.slice(0, depth));
    const member = node.members.find((one) => one.key === key);
    if (member === undefined)
      return insertMember({ text, root }, node, { key, value: nest(path.slice(depth + 1), value) });
    node = member.value;
  }
  if (isDeepStrictEqual(valueOfNode(node), value)) return text;
  return splice(text, node, formatValue(value, { ...styleOf({ text, root }), indent: lineIndent(text, node.start) }));
}

interface NewMember {
  readonly key: string;
  readonly value: JsonValue;
}

function insertMember(document: Document, object: JsonObjectNode, { key, value }: NewMember): string {
  const { text } = document;
  const style = styleOf(document);
  const last = object.members.at(-1);
  const close = object.end - 1;
  const inner = text.slice(object.start + 1, close);
  // An object on one line stays on one line, unless it is empty.
  if (last !== undefined && !inner.includes('\n')) {
    const comma = object.comma === undefined ? ', ' : ' ';
    const at = object.comma === undefined ? last.end : object.comma + 1;
    return splice(text, { start: at, end: at }, `${comma}${JSON.stringify(key)}: ${JSON.stringify(value)}`);
  }
  const outer = lineIndent(text, object.start);
  const indent = last === undefined ? outer + style.unit : lineIndent(text, last.start);
  // Behind everything that is there, so that a comment stays with the member it follows.
  const at = object.start + 1 + inner.trimEnd().length;
  const hasLine = text.slice(at, close).includes('\n');
  const member = `${style.eol}${indent}${JSON.stringify(key)}: ${formatValue(value, { ...style, indent })}`;
  const inserted = member + (object.comma === undefined ? '' : ',') + (hasLine ? '' : style.eol + outer);
  const longer = splice(text, { start: at, end: hasLine ? at : close }, inserted);
  return last === undefined || object.comma !== undefined
    ? longer
    : splice(longer, { start: last.end, end: last.end }, ',');
}

interface Style {
  readonly unit: string;
  readonly eol: string;
}

function styleOf({ text, root }: Document): Style {
  const first = root.kind === 'object' ? root.members[0] : undefined;
  const indent = first === undefined ? '' : lineIndent(text, first.start);
  return { unit: indent === '' ? '  ' : indent, eol: eolOf(text) };
}

function formatValue(value: JsonValue, { unit, eol, indent }: Style & { readonly indent: string }): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', eol + indent);
}

function newFile(text: string, value: JsonValue): string {
  const eol = eolOf(text);
  const isLineOpen = text.trimEnd() !== '' && !text.endsWith('\n');
  return (isLineOpen ? eol : '') + formatValue(value, { unit: '  ', eol, indent: '' }) + eol;
}

function eolOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

/** White space at the beginning of the line. */
function lineIndent(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  return /^\uFEFF?([ \t]*)/.exec(text.slice(start, offset))?.[1] ?? '';
}

function nest(path: readonly string[], value: JsonValue): JsonValue {
  return path.reduceRight<JsonValue>((inner, key): JsonObject => Object.fromEntries([[key, inner]]), value);
}

function splice(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  inserted: string,
): string {
  return text.slice(0, start) + inserted + text.slice(end);
}

function notAnObject(text: string, node: JsonNode, path: readonly string[]): Error {
  const what = path.length === 0 ? 'the file holds no object' : `${path.join('.')} is no object`;
  return configProblem(
    `No place for the entry at ${placeOf(text, node.start)}: ${what}`,
    'correct the file, then install again',
  );
}

/** Whatever the text looks like, what it means is what was there and the new member. */
function checkEdit(before: string, after: string, path: readonly string[], value: JsonValue): void {
  const [old, now] = [before, after].map((text) => {
    const root = parseJsonTree(text);
    return root === undefined ? {} : valueOfNode(root);
  });
  if (isDeepStrictEqual(now, withMember(old ?? {}, path, value))) return;
  throw configProblem(
    'The entry cannot be placed without changing other settings',
    'add it by hand; see it with --print',
  );
}

function withMember(whole: JsonValue, [key, ...path]: readonly string[], value: JsonValue): JsonValue {
  if (key === undefined) return value;
  const entries = Object.entries(whole ?? {});
  const old = entries.find(([name]) => name === key)?.[1] ?? {};
  const others = entries.filter(([name]) => name !== key);
  return Object.fromEntries([...others, [key, withMember(old, path, value)]]);
}
