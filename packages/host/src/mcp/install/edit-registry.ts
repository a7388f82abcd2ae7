/**
 * Adds and removes foreign MCP servers in the text of a registry. What is new is put in as text, and the rest keeps its
 * bytes. To remove or replace one, the file is printed anew: comments stay, spacing may not, and the diff shows it.
 */
import { isDeepStrictEqual } from 'node:util';
import { type JsonObject, ToolError } from '@tool-runtime/protocol';
import { type Document, isMap, isNode, parseDocument, stringify, type ToStringOptions } from 'yaml';
import { configProblem } from './config-problem.ts';

const SECTION = 'mcp_servers';

/** Replaces a server of the same name. */
export function withMcpServer(text: string, name: string, settings: JsonObject): string {
  const document = parse(text);
  const old = (document.toJS() ?? {}) as Record<string, unknown>;
  const wanted = { ...old, [SECTION]: { ...(old[SECTION] as object | undefined), [name]: settings } };
  if (old[SECTION] === undefined || old[SECTION] === null) {
    const appended = append(text, stringify({ [SECTION]: { [name]: settings } }, { lineWidth: 0 }));
    if (old[SECTION] === undefined && means(appended, wanted)) return appended;
    document.delete(SECTION);
  }
  const joined = join(text, document.get(SECTION, true), stringify({ [name]: settings }, { lineWidth: 0 }));
  if (joined !== undefined && means(joined, wanted)) return joined;
  document.setIn([SECTION, name], document.createNode(settings));
  return checked(print(document, text), wanted);
}

/** Undefined when there is no such server. */
export function withoutMcpServer(text: string, name: string): string | undefined {
  const document = parse(text);
  const { [SECTION]: servers, ...others } = (document.toJS() ?? {}) as Record<
    string,
    Record<string, unknown> | undefined
  >;
  if (servers === undefined || servers === null || !Object.hasOwn(servers, name)) return undefined;
  const { [name]: _, ...rest } = servers;
  const isLast = Object.keys(rest).length === 0;
  document.deleteIn(isLast ? [SECTION] : [SECTION, name]);
  // An empty document would print as `{}` or `null`.
  if (isLast && Object.keys(others).length === 0) return checked('version: 1\n', { version: 1 });
  return checked(print(document, text), isLast ? others : { ...others, [SECTION]: rest });
}

function parse(text: string): Document {
  const document = parseDocument(text, { prettyErrors: true });
  const [problem] = document.errors;
  if (problem !== undefined) {
    throw new ToolError('E_VALIDATION_FAIL', `Registry is not understood: ${problem.message.split('\n')[0]}`, {
      details: { reason: 'unparsable', next: 'correct the file first; tool-runtime doctor checks it' },
    });
  }
  if (document.contents !== null && !isMap(document.contents)) {
    throw configProblem('Registry holds no map', 'correct the file first; tool-runtime init writes one');
  }
  return document;
}

function append(text: string, block: string): string {
  const eol = eolOf(text);
  const body = text === '' || text.endsWith('\n') ? text : text + eol;
  return body + (body.trim() === '' ? '' : eol) + block.replaceAll('\n', eol);
}

/** Behind the last server, as deep as the first one. Undefined where they do not stand one below the other. */
function join(text: string, servers: unknown, block: string): string | undefined {
  if (!isMap(servers) || servers.flow === true) return undefined;
  const [first, last] = [servers.items[0]?.key, servers.items.at(-1)?.value];
  const start = isNode(first) ? first.range?.[0] : undefined;
  const end = isNode(last) ? last.range?.[1] : undefined;
  if (start === undefined || end === undefined) return undefined;
  const indent = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  const newline = text[end - 1] === '\n' ? end - 1 : text.indexOf('\n', end);
  const eol = eolOf(text);
  const [head, tail] = newline === -1 ? [text + eol, ''] : [text.slice(0, newline + 1), text.slice(newline + 1)];
  return (
    head +
    block
      .trimEnd()
      .split('\n')
      .map((line) => indent + line + eol)
      .join('') +
    tail
  );
}

/** In the style that leaves most lines of the file as they are. */
function print(document: Document, text: string): string {
  const plain = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  const untouched = parseDocument(plain);
  const lines = new Set(plain.split('\n'));
  const kept = (style: ToStringOptions): number =>
    untouched
      .toString(style)
      .split('\n')
      .filter((line) => lines.has(line)).length;
  const style = STYLES.reduce((best, other) => (kept(other) > kept(best) ? other : best));
  const printed = document.toString(style).replaceAll('\r\n', '\n').replaceAll('\n', eolOf(text));
  return text.startsWith('\uFEFF') && !printed.startsWith('\uFEFF') ? `\uFEFF${printed}` : printed;
}

const STYLES: readonly ToStringOptions[] = [2, 4].flatMap((indent) =>
  [true, false].flatMap((indentSeq) =>
    [true, false].map((flowCollectionPadding) => ({ indent, indentSeq, flowCollectionPadding, lineWidth: 0 })),
  ),
);

function checked(text: string, wanted: object): string {
  if (means(text, wanted)) return text;
  throw configProblem('The registry cannot be edited without changing other settings', 'edit it by hand');
}

function means(text: string, wanted: object): boolean {
  const document = parseDocument(text);
  return document.errors.length === 0 && isDeepStrictEqual(document.toJS(), wanted);
}

function eolOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}
