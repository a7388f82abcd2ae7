/** Rules over the index: which declarations a rule is about, and what they lack or have too much. */
import { isToolError } from '@tool-runtime/protocol';
import { compileGlobs, type ToolContext } from '@tool-runtime/sdk';
import type { Node } from 'web-tree-sitter';
import type { CodeIndex, QueryNode, Where } from '../../contracts/code-index-contract.ts';
import { type IgnoreMark, ignoreMarks, isIgnored } from '../../inspect/code-record.ts';
import type { ParsedSource } from '../../parse/source-parser.ts';
import type { CodeServices } from '../../plugin/code-services.ts';
import { type Demand, describeDemand, parseDemand } from './demand.ts';

export interface DeclarationRule {
  readonly id: string;
  readonly where: Where;
  readonly must_have: readonly string[];
  readonly must_not_have: readonly string[];
}

export interface JudgedDeclaration {
  readonly rule: string;
  readonly node: QueryNode;
  readonly message: string;
  readonly isSuppressed: boolean;
}

export interface JudgeParts {
  readonly services: CodeServices;
  readonly index: CodeIndex;
  readonly workspace: ToolContext['workspace'];
  readonly signal: AbortSignal;
}

/** Left out by their names: declarations in them are not written by hand. */
const SKIPPED_BY_NAME: ReadonlySet<string> = new Set(['minified', 'generated', 'binary']);
const PAGE = 10_000;
const MAX_NODES = 200_000;

export interface Judgement {
  readonly findings: readonly JudgedDeclaration[];
  /** Declarations the rule was about. */
  readonly checked: number;
  /** Files the rule is about whose declarations are not all known. */
  readonly unparsed: readonly UnparsedFile[];
}

export interface UnparsedFile {
  readonly file: string;
  readonly line?: number;
  readonly message: string;
}

export async function judgeDeclarations(rule: DeclarationRule, parts: JudgeParts): Promise<Judgement> {
  const nodes = await allNodes(rule.where, parts);
  const demands = [
    ...rule.must_have.map((word) => ({ ...parseDemand(word), isWanted: true })),
    ...rule.must_not_have.map((word) => ({ ...parseDemand(word), isWanted: false })),
  ];
  const tests = await Promise.all(demands.map((demand) => indexTest(demand, nodes, parts)));
  const labels = await docLabels(nodes);
  const findings: JudgedDeclaration[] = [];
  for (const [file, ofFile] of Map.groupBy(nodes, (node) => node.file)) {
    parts.signal.throwIfAborted();
    const reading = new FileReading(file, ofFile, parts);
    for (const node of ofFile) {
      for (const [place, demand] of demands.entries()) {
        const has = tests[place]?.(node) ?? (await hasInTree(node, demand, reading));
        if (has === demand.isWanted) continue;
        const what = describeDemand(demand, labels.get(node.language) ?? 'doc comment');
        const message = `${demand.isWanted ? 'Missing' : 'Unwanted'} ${what}: ${node.name}`;
        findings.push({ rule: rule.id, node, message, isSuppressed: await isSuppressed(rule.id, node, reading) });
      }
    }
  }
  return { findings, checked: nodes.length, unparsed: await unparsedFiles(rule.where, parts) };
}

/** Files that do not parse, as far as the rule's words can tell. Where a grammar is known to err, its errors do not count. */
async function unparsedFiles(where: Where, { index }: JudgeParts): Promise<UnparsedFile[]> {
  const { loadProfile } = await import('../../profile/load-profile.ts');
  const { file_glob: glob, language } = where;
  const isMeant = glob === undefined ? () => true : compileGlobs([glob]);
  const found: UnparsedFile[] = [];
  for (const file of index.files()) {
    const row = index.fileRow(file);
    if (row === undefined || !isMeant(file) || (language !== undefined && row.language !== language)) continue;
    const { profile, symbolsQuery } = loadProfile(row.language);
    if (isAboutCode(where) && !CODE.test(symbolsQuery)) continue;
    if (row.skipped !== undefined && !SKIPPED_BY_NAME.has(row.skipped)) {
      found.push({ file, message: `Not parsed: ${row.skipped}` });
    } else if (row.problems > 0 && profile.errors === 'blocking') {
      const [first] = await index.problemsOf(file);
      if (first !== undefined) found.push({ file, line: first.line, message: first.message });
    }
  }
  return found;
}

async function allNodes(where: Where, { index, signal }: JudgeParts): Promise<readonly QueryNode[]> {
  const nodes: QueryNode[] = [];
  for (let offset = 0; offset < MAX_NODES; offset += PAGE) {
    const page = await index.query(where, { limit: PAGE, offset, signal });
    nodes.push(...page.nodes);
    if (!page.truncated) break;
  }
  return nodes;
}

/** Languages that declare more than keys and elements. */
const CODE = /@def\.(?:fn|method|class|struct)\b/;
const DATA_TYPES: readonly string[] = ['key', 'rule', 'element', 'module', 'namespace'];

function isAboutCode({ type, type_in: anyOf }: Where): boolean {
  const types = [...(type === undefined ? [] : [type]), ...(anyOf ?? [])];
  return types.length > 0 && !types.some((each) => DATA_TYPES.includes(each));
}

type NodeTest = (node: QueryNode) => boolean;

/** Undefined for what the index does not know. */
async function indexTest(
  { kind, name }: Demand,
  nodes: readonly QueryNode[],
  parts: JudgeParts,
): Promise<NodeTest | undefined> {
  if (kind === 'docstring') return (node) => node.has_doc;
  if (kind === 'call') {
    const calling = new Set((await allNodes({ calls: name }, parts)).map(({ id }) => id));
    return ({ id }) => calling.has(id);
  }
  if (kind !== 'test') return undefined;
  const tested = new Map<string, boolean>();
  for (const { name: called } of nodes) {
    if (tested.has(called)) continue;
    const references = await parts.index.references(called, { signal: parts.signal });
    tested.set(
      called,
      references.some(({ test }) => test),
    );
  }
  return ({ name: called }) => tested.get(called) === true;
}

async function docLabels(nodes: readonly QueryNode[]): Promise<ReadonlyMap<string, string>> {
  const { loadProfile } = await import('../../profile/load-profile.ts');
  const languages = [...new Set(nodes.map(({ language }) => language))];
  return new Map(languages.map((language) => [language, loadProfile(language).profile.doc.label]));
}

async function hasInTree(node: QueryNode, { kind, name }: Demand, reading: FileReading): Promise<boolean> {
  const facts = await reading.facts();
  return kind === 'attr' ? facts?.hasAttribute(node, name) === true : facts?.hasReturnType(node) === true;
}

async function isSuppressed(rule: string, node: QueryNode, reading: FileReading): Promise<boolean> {
  const facts = (await reading.mentionsIgnore()) ? await reading.facts() : undefined;
  return facts !== undefined && isIgnored(rule, { line: node.line, from: facts.firstLine(node) }, facts.marks);
}

/** One file, read and parsed when the first question needs it. */
class FileReading {
  readonly #file: string;
  readonly #nodes: readonly QueryNode[];
  readonly #parts: JudgeParts;
  #bytes: Promise<Uint8Array | undefined> | undefined;
  #facts: Promise<DeclarationFacts | undefined> | undefined;

  constructor(file: string, nodes: readonly QueryNode[], parts: JudgeParts) {
    this.#file = file;
    this.#nodes = nodes;
    this.#parts = parts;
  }

  async mentionsIgnore(): Promise<boolean> {
    const bytes = await this.#read();
    return bytes !== undefined && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('sdk-ignore');
  }

  facts(): Promise<DeclarationFacts | undefined> {
    this.#facts ??= this.#parse();
    return this.#facts;
  }

  #read(): Promise<Uint8Array | undefined> {
    this.#bytes ??= readOrNothing(this.#file, this.#parts);
    return this.#bytes;
  }

  async #parse(): Promise<DeclarationFacts | undefined> {
    const bytes = await this.#read();
    const language = this.#nodes[0]?.language;
    if (bytes === undefined || language === undefined) return undefined;
    const engine = await this.#parts.services.engine();
    const parsed = await engine.parse({ path: this.#file, language, bytes, signal: this.#parts.signal });
    try {
      return declarationFacts(parsed, this.#nodes);
    } finally {
      parsed.delete();
    }
  }
}

async function readOrNothing(path: string, { workspace, signal }: JudgeParts): Promise<Uint8Array | undefined> {
  try {
    return (await workspace.readFile(path, { signal })).bytes;
  } catch (thrown) {
    // Gone since the question was asked.
    if (!isToolError(thrown) || thrown.code !== 'E_FILE_IO') throw thrown;
    return undefined;
  }
}

interface DeclarationFacts {
  hasAttribute(node: QueryNode, name: string): boolean;
  hasReturnType(node: QueryNode): boolean;
  /** First line of what belongs to the declaration, from 1. */
  firstLine(node: QueryNode): number;
  readonly marks: readonly IgnoreMark[];
}

/** Fields of a function's syntax node that hold its return type, under the name of each language. */
const RETURN_FIELDS = ['return_type', 'result', 'returns', 'type'];
/** For grammars without such a field: a type after the closing parenthesis. */
const RETURN_TEXT = /\)\s*(?:->|:)\s*[^\s{=][^()]*$/;
/** From a name up to the declaration it names. */
const MAX_PARENTS = 6;

/**
 * What only the tree of a file tells of its declarations: attributes, return types, comments that switch rules off.
 *
 * Plain data: the tree may be freed afterwards. `nodes` are those that will be asked about.
 */
function declarationFacts(parsed: ParsedSource, nodes: readonly QueryNode[]): DeclarationFacts {
  const { source, tree, parser } = parsed;
  const attributes = parser.queries.symbols
    .captures(tree.rootNode)
    .filter(({ name }) => name === 'attr')
    .map(({ node }) => ({ start: source.toByte(node.startIndex), end: source.toByte(node.endIndex), text: node.text }));
  const typed = new Set(nodes.filter((node) => returnsType(node, parsed)).map(({ id }) => id));
  const lines = new Map(nodes.map(({ id, full_span: { start } }) => [id, source.rowOf(source.toOffset(start)) + 1]));
  return {
    hasAttribute: ({ full_span, name_span }, name) =>
      attributes.some(
        ({ start, end, text }) => start >= full_span.start && end <= name_span.start && isAttribute(text, name),
      ),
    hasReturnType: ({ id }) => typed.has(id),
    firstLine: ({ id, line }) => lines.get(id) ?? line,
    marks: ignoreMarks(parsed),
  };
}

function returnsType(node: QueryNode, { source, tree }: ParsedSource): boolean {
  const [start, end] = [source.toOffset(node.span.start), source.toOffset(node.span.end)];
  let at: Node | null = tree.rootNode.descendantForIndex(source.toOffset(node.name_span.start));
  for (let up = 0; at !== null && up < MAX_PARENTS && at.startIndex >= start && at.endIndex <= end; up++) {
    const holders = [at, at.childForFieldName('value')];
    if (holders.some((holder) => RETURN_FIELDS.some((field) => holder?.childForFieldName(field) != null))) return true;
    at = at.parent;
  }
  return RETURN_TEXT.test(node.signature);
}

/** `#[tokio::test]`, `@Test` and `[Test]` are all `test` or `Test`; with arguments the text must begin like that. */
function isAttribute(text: string, name: string): boolean {
  const bare = text.replace(/^[\s#!@[]+/, '').replace(/\s+/g, '');
  const wanted = name.replace(/\s+/g, '');
  if (wanted.includes('(')) return bare.startsWith(wanted);
  const [own = ''] = /^[\p{L}\p{N}_$:.\\-]+/u.exec(bare) ?? [];
  return own === wanted || ['::', '.', '\\'].some((separator) => own.endsWith(separator + wanted));
}
