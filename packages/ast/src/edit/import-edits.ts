/** The edits that add an import to a draft or take one out: names are merged into lists where there are lists. */
import type { Node } from 'web-tree-sitter';
import type { ImportFact } from '../contracts/facts.ts';
import type { Draft } from './draft.ts';
import { refuseEdit } from './edit-failures.ts';
import type { ImportForms } from './edit-profile.ts';
import {
  elementsOf,
  type ImportStatement,
  importForms,
  importHabits,
  importStatements,
  listOf,
  placeImport,
} from './import-statements.ts';
import { children } from './syntax-node.ts';
import type { TextEdit } from './text-edit.ts';
import { indentAt, isBlank, lineEnd, lineStart, nextLine } from './text-style.ts';

export interface WantedImport {
  readonly source: string;
  /** `*` all, `default` the default export, undefined the module. */
  readonly name?: string | undefined;
  readonly alias?: string | undefined;
  readonly typeOnly?: boolean | undefined;
}

/** Undefined when the file imports it already. */
export function addImportEdits(draft: Draft, wanted: WantedImport): readonly TextEdit[] | undefined {
  const statements = importStatements(draft);
  if (statements.some(({ facts }) => facts.some((fact) => isSame(fact, wanted)))) return undefined;
  return mergeEdit(draft, statements, wanted) ?? blockEdit(draft, statements, wanted) ?? [statementOf(draft, wanted)];
}

/** A statement of its own, of the language's form or of the caller's. */
export function statementOf(draft: Draft, wanted: WantedImport, form?: string): TextEdit {
  return placeImport(draft, writeImport(draft, wanted, form), wanted.source);
}

/** Imports a name from another source: in place where the statement imports nothing else. */
export function redirectImportEdits(
  draft: Draft,
  { source, name }: { readonly source: string; readonly name: string },
  wanted: WantedImport,
): readonly TextEdit[] | undefined {
  const statements = importStatements(draft);
  const only = statements.find(
    ({ facts }) => facts.length === 1 && facts[0]?.source === source && facts[0].name === name,
  );
  if (only === undefined || mergeEdit(draft, statements, wanted) !== undefined) return undefined;
  const { startIndex, text } = only.node;
  return [{ start: startIndex, end: startIndex + text.trimEnd().length, text: writeImport(draft, wanted) }];
}

/** The statement, or one of another form of the language, with its places filled in. */
export function writeImport(draft: Draft, wanted: WantedImport, form = formFor(draft, wanted)): string {
  const { quote, semicolon } = importHabits(draft, importStatements(draft));
  const { source, name = '', alias = '', typeOnly } = wanted;
  const quoted = /^["'<]/.test(source) ? source : quote + source + quote;
  const { type } = importForms(draft).forms;
  const values: Record<string, string> = { source, quoted, name, alias, ';': semicolon, type: typeOnly ? type : '' };
  return form.replace(/\{(source|quoted|name|alias|type|;)\}/g, (_, key: string) => values[key] ?? '');
}

function formFor(draft: Draft, { name, alias }: WantedImport): string {
  const { forms } = importForms(draft);
  const kind =
    name === undefined ? 'module' : name === '*' ? 'star' : name === 'default' && forms.default ? 'default' : 'name';
  const key = kind === 'default' || alias === undefined ? kind : (`${kind}_alias` as const);
  const form = forms[key];
  if (form !== undefined && (key !== 'default' || alias !== undefined)) return form;
  throw refuseEdit('no_import_form', `${draft.profile.label} has no import of this form: ${key}`, {
    path: draft.path,
    next: 'give a name, an alias or neither, as the language writes it',
  });
}

function isSame({ source, name, alias, star }: ImportFact, wanted: WantedImport): boolean {
  if (source !== wanted.source || alias !== wanted.alias) return false;
  return wanted.name === '*' ? star === true : star !== true && name === wanted.name;
}

/** Into a list of names from the same source. */
function mergeEdit(
  draft: Draft,
  statements: readonly ImportStatement[],
  wanted: WantedImport,
): readonly TextEdit[] | undefined {
  const forms = importForms(draft);
  const { specifier } = forms;
  if (specifier === undefined || wanted.name === undefined || wanted.name === '*') return undefined;
  if (wanted.name === 'default' && forms.forms.default !== undefined) return undefined;
  for (const statement of statements) {
    const list = listOf(statement, forms);
    if (list === undefined || !takesName(statement, forms, wanted)) continue;
    const isTypes = isTypeStatement(statement, forms);
    const form = wanted.alias === undefined ? specifier.name : specifier.alias;
    const text = writeImport(draft, isTypes ? { ...wanted, typeOnly: false } : wanted, form);
    return appendTo(draft, list, text);
  }
  return undefined;
}

function takesName(statement: ImportStatement, forms: ImportForms, { source, typeOnly }: WantedImport): boolean {
  const { facts } = statement;
  if (!facts.every((fact) => fact.source === source && fact.star !== true)) return false;
  if (!facts.some((fact) => fact.name !== undefined && fact.name !== 'default')) return false;
  return typeOnly === true || !isTypeStatement(statement, forms);
}

function isTypeStatement({ node }: ImportStatement, { forms }: ImportForms): boolean {
  return forms.type !== '' && node.text.startsWith(`import ${forms.type}`);
}

function appendTo(draft: Draft, list: Node, text: string): readonly TextEdit[] | undefined {
  const last = elementsOf(list).at(-1);
  if (last === undefined) return undefined;
  const at = last.endIndex;
  const comma = /^\s*,/.exec(draft.text.slice(at, at + 200));
  const isBroken = isBlank(draft.text.slice(lineStart(draft.text, last.startIndex), last.startIndex));
  const gap = isBroken ? draft.style.newline + indentAt(draft.text, last.startIndex) : ' ';
  if (comma === null) return [{ start: at, end: at, text: `,${gap}${text}` }];
  const behind = at + comma[0].length;
  return [{ start: behind, end: behind, text: `${gap}${text},` }];
}

/** Into a block of imports, one per line. */
function blockEdit(
  draft: Draft,
  statements: readonly ImportStatement[],
  wanted: WantedImport,
): readonly TextEdit[] | undefined {
  const { blocks, forms } = importForms(draft);
  const form = wanted.alias === undefined ? forms.block : forms.block_alias;
  if (form === undefined || wanted.name !== undefined) return undefined;
  for (const { node } of statements) {
    const block = node.descendantsOfType([...blocks]).find((one) => one !== null);
    const last = block === undefined ? undefined : elementsOf(block).at(-1);
    if (last === undefined) continue;
    const gap = draft.style.newline + indentAt(draft.text, last.startIndex);
    const at = lineEnd(draft.text, last.endIndex);
    return [{ start: at, end: at, text: gap + writeImport(draft, wanted, form) }];
  }
  return undefined;
}

/** Every import of the name from the source; without a name, everything from the source. Empty if nothing is imported. */
export function removeImportEdits(
  draft: Draft,
  { source, name }: Pick<WantedImport, 'source' | 'name'>,
): readonly TextEdit[] {
  const isMeant = (fact: ImportFact) => {
    if (fact.source !== source) return false;
    return name === undefined || (name === '*' ? fact.star === true : fact.name === name);
  };
  return importStatements(draft).flatMap((statement) => {
    const meant = statement.facts.filter(isMeant);
    if (meant.length === 0) return [];
    if (meant.length === statement.facts.length) return [removeLines(draft, statement.node)];
    return meant.map((fact) => removeElement(draft, statement, fact));
  });
}

/** With its line, and with one of two blank lines that would meet. */
function removeLines({ text }: Draft, { startIndex, text: own }: Node): TextEdit {
  const end = startIndex + own.trimEnd().length;
  const start = lineStart(text, startIndex);
  const isAlone = isBlank(text.slice(start, startIndex)) && isBlank(text.slice(end, lineEnd(text, end)));
  if (!isAlone) return { start: startIndex, end, text: '' };
  const next = nextLine(text, end);
  const isBlankAbove = start <= 1 || isBlank(text.slice(lineStart(text, start - 1), start));
  const isBlankBelow = next < text.length && isBlank(text.slice(next, lineEnd(text, next)));
  return { start, end: isBlankAbove && isBlankBelow ? nextLine(text, next) : next, text: '' };
}

/** One of several in a statement. */
function removeElement(draft: Draft, statement: ImportStatement, fact: ImportFact): TextEdit {
  const forms = importForms(draft);
  const word = fact.name === undefined || fact.name === 'default' ? (fact.alias ?? fact.source) : fact.name;
  const list = listOf(statement, forms);
  const places = [
    list,
    statement.node,
    ...statement.node.namedChildren,
    ...statement.node.descendantsOfType([...forms.blocks]),
  ];
  for (const place of places) {
    if (place === undefined || place === null) continue;
    const elements = elementsOf(place);
    const element = elements.find(
      ({ text }) => isNamed(text, word) || (fact.name === undefined && isNamed(text, fact.source)),
    );
    if (element === undefined) continue;
    if (forms.blocks.includes(place.type)) return removeLines(draft, element);
    return place === list && elements.length === 1 && place !== statement.node
      ? withoutComma(draft, place)
      : withoutComma(draft, element);
  }
  throw refuseEdit('mixed_import', `Import cannot be taken out of its statement: ${word}`, {
    path: draft.path,
    next: 'change the statement with file_patch',
    details: { line: fact.line },
  });
}

/** Whether an element is `word`, in quotes or not, with an alias or a leading word such as `type` or not. */
function isNamed(element: string, word: string): boolean {
  const bare = element.replace(/\s+as\s+\S+$/, '');
  return bare
    .split(/\s+/)
    .slice(-1)
    .some((last) => last === word || last.replace(/^["'<]|[">']$/g, '') === word);
}

/** An element of a list with one comma: the one after it, or the one before the last element. */
export function withoutComma({ text }: Draft, node: Node): TextEdit {
  const siblings = node.parent === null ? [] : children(node.parent);
  const at = siblings.findIndex((one) => one.startIndex === node.startIndex && one.endIndex === node.endIndex);
  const [before, after] = [siblings[at - 1], siblings[at + 1]];
  const isLast = !siblings.slice(at + 1).some((one) => one.isNamed && !one.type.includes('comment'));
  if (before?.type === ',' && (isLast || after?.type !== ',')) {
    return { start: before.startIndex, end: node.endIndex, text: '' };
  }
  if (after?.type !== ',') return { start: node.startIndex, end: node.endIndex, text: '' };
  const start = lineStart(text, node.startIndex);
  const isAlone =
    isBlank(text.slice(start, node.startIndex)) && isBlank(text.slice(after.endIndex, lineEnd(text, after.endIndex)));
  if (isAlone) return { start, end: nextLine(text, after.endIndex), text: '' };
  const gap = /^[ \t]*/.exec(text.slice(after.endIndex))?.[0].length ?? 0;
  return { start: node.startIndex, end: after.endIndex + gap, text: '' };
}
