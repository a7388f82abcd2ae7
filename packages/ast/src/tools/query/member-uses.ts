/**
 * The uses of what scopes cannot follow, members above all: from the language server that runs for the file, checked against every
 * place that has the name; or, without one, every place in code that has the name.
 */
import { isToolError } from '@tool-runtime/protocol';
import type { QueryNode } from '../../contracts/code-index-contract.ts';
import { findOccurrences, type Occurrence } from '../../edit/rename/find-occurrences.ts';
import { fromServerPlace, toServerPlace } from '../../edit/server-places.ts';
import type { LanguageServer } from '../../lsp/language-server.ts';
import type { FoundRange, PlaceInFile } from '../../lsp/query-results.ts';
import { resolveProviders } from '../../lsp/resolve-providers.ts';
import { runningServer } from '../../lsp/running-server.ts';
import { languageId } from '../../lsp/server-session.ts';
import { decodeSource, type SourceText } from '../../parse/source-text.ts';
import { isWholeTable } from '../../plugin/granted-providers.ts';
import { placeOf } from '../../scope/rename/rename-plan.ts';
import type { ProjectFiles } from '../../scope/scope-model.ts';
import type { FoundUse, FoundUses, ReferenceParts } from './reference-view.ts';

export interface UseSearch extends ReferenceParts {
  readonly node: QueryNode;
  readonly files: ProjectFiles;
  readonly signal: AbortSignal;
}

const SERVER_MS = 20_000;
/** Places the server is asked about one by one; the others are counted as left out. */
const MAX_QUESTIONS = 200;
const MAX_SHOWN = 5;
const TEXT: readonly string[] = ['comment', 'string'];

/** `why`: what the answer says where no server could be asked. */
export async function usesByServer(search: UseSearch): Promise<FoundUses | { readonly why: string }> {
  const { services, registry, node, signal } = search;
  const without = `No language server runs for ${node.file}`;
  // Servers are those of the whole runtime: a session that has fewer of them asks none.
  if (!isWholeTable(services.ports.registry.providers, registry.providers)) return { why: without };
  const running = await services.runningServers();
  const server = running === undefined ? undefined : await runningServer(running, node.file);
  if (server === undefined) return { why: `${without}${howToStart(search)}` };
  try {
    // Tells it what changed since it was asked last.
    await services.servers(signal);
    return await askServer(server, search);
  } catch (thrown) {
    signal.throwIfAborted();
    if (!isToolError(thrown)) throw thrown;
    return { why: `The language server ${server.provider} did not answer (${thrown.message})` };
  }
}

function howToStart({ registry, node }: UseSearch): string {
  const provider = resolveProviders(registry.providers).find((one) => languageId(one, node.file) !== undefined);
  return provider === undefined ? '' : ` (ast_external with provider ${provider.name} starts one)`;
}

async function askServer(server: LanguageServer, search: UseSearch): Promise<FoundUses> {
  const { node, signal, services } = search;
  const texts = new Texts(search.files);
  const home = texts.of(node.file);
  if (home === undefined) return { uses: [], leftOut: [`File cannot be read: ${node.file}`] };
  const limits = { timeoutMs: SERVER_MS, signal };
  const at = { path: node.file, ...toServerPlace(home, node.name_span.start) };
  const found = await server.references(at, { ...limits, includeDeclaration: false });
  const provider = (await services.runningServers())?.providers.find(({ name }) => name === server.provider);
  const isSeen = (path: string) => provider !== undefined && languageId(provider, path) !== undefined;
  const occurrences = await occurrencesOf(search, isSeen);
  const kinds = new Map(occurrences.map((one) => [`${one.file}\0${one.start}`, one.kind]));
  const uses = found.flatMap((range) => useAt(range, node, texts, kinds));
  const known = new Set(uses.map(({ path, start }) => `${path}\0${start}`));
  known.add(`${node.file}\0${node.name_span.start}`);
  // A server answers for the projects it has loaded. To ask about a place loads the project of that file.
  const left = occurrences.filter((one) => isCode(one) && !known.has(`${one.file}\0${one.start}`));
  for (const one of left.slice(0, MAX_QUESTIONS)) {
    const source = texts.of(one.file);
    if (source === undefined) continue;
    const place = { path: one.file, ...toServerPlace(source, one.start) };
    if (leadsTo(await server.definition(place, limits), at)) uses.push(asUse(one, node.name));
  }
  const outside = found.filter(({ path }) => path.startsWith('external:')).length;
  return {
    uses: uses.toSorted((a, b) => (a.path === b.path ? a.line - b.line || a.col - b.col : a.path < b.path ? -1 : 1)),
    leftOut: [
      ...(left.length > MAX_QUESTIONS
        ? [`${left.length - MAX_QUESTIONS} places with the name were not looked at`]
        : []),
      ...(outside > 0 ? [`${outside} uses outside of the workspace are not listed`] : []),
      ...unparsed(occurrences),
    ],
  };
}

function leadsTo(meant: readonly FoundRange[], at: PlaceInFile): boolean {
  return meant.some(
    ({ path, startLine, startCharacter }) =>
      path === at.path && startLine === at.line && startCharacter === at.character,
  );
}

/** Nothing for the declaration itself and for places outside of the workspace. */
function useAt(
  { path, startLine, startCharacter, endLine, endCharacter }: FoundRange,
  node: QueryNode,
  texts: Texts,
  kinds: ReadonlyMap<string, string>,
): readonly FoundUse[] {
  if (path.startsWith('external:')) return [];
  const source = texts.of(path);
  if (source === undefined) {
    return [{ path, line: startLine + 1, col: startCharacter + 1, name: node.name, kind: 'reference' }];
  }
  const start = fromServerPlace(source, startLine, startCharacter);
  if (path === node.file && start === node.name_span.start) return [];
  const end = fromServerPlace(source, endLine, endCharacter);
  const name = source.text.slice(source.toOffset(start), source.toOffset(end));
  const kind = kinds.get(`${path}\0${start}`);
  return [
    {
      path,
      ...placeOf(source, source.toOffset(start)),
      start,
      name,
      kind: kind === 'member' || kind === 'macro' ? kind : 'reference',
    },
  ];
}

/** Every place in code with the name, in files of the same language. */
export async function usesByName(search: UseSearch, why: string): Promise<FoundUses> {
  const { node, index } = search;
  const isWanted = (path: string) => index.fileRow(path)?.language === node.language;
  const all = await occurrencesOf(search, isWanted);
  const isUse = (one: Occurrence) => isCode(one) && !(one.file === node.file && one.start === node.name_span.start);
  return {
    uses: all.filter(isUse).map((one) => asUse(one, node.name)),
    leftOut: [
      `${why}: places were matched by name alone, some may mean something else; uses under another name and in strings were not looked at`,
      ...unparsed(all),
    ],
  };
}

async function occurrencesOf(
  { services, index, files, node, signal }: UseSearch,
  isWanted: (path: string) => boolean,
): Promise<readonly Occurrence[]> {
  return findOccurrences({ node, files, index, engine: await services.engine(), signal, isWanted });
}

/** Also in a file with errors, as long as it could be read. */
function isCode({ kind, start }: Occurrence): boolean {
  return start >= 0 && !TEXT.includes(kind);
}

function asUse({ file, line, col, kind, start }: Occurrence, name: string): FoundUse {
  return { path: file, start, line, col, name, kind: kind === 'member' || kind === 'macro' ? kind : 'reference' };
}

function unparsed(all: readonly Occurrence[]): readonly string[] {
  const files = [...new Set(all.filter(({ start }) => start < 0).map(({ file }) => file))];
  if (files.length === 0) return [];
  const rest = files.length - MAX_SHOWN;
  return [
    `Files with the name that could not be parsed: ${files.slice(0, MAX_SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`,
  ];
}

/** Files as the plan of one question sees them, decoded once. */
class Texts {
  readonly #files: ProjectFiles;
  readonly #known = new Map<string, SourceText | undefined>();

  constructor(files: ProjectFiles) {
    this.#files = files;
  }

  of(path: string): SourceText | undefined {
    if (!this.#known.has(path)) {
      const bytes = this.#files.read(path);
      this.#known.set(path, bytes === undefined ? undefined : decodeSource(bytes, path));
    }
    return this.#known.get(path);
  }
}
