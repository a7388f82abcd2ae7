/**
 * Reads the contents to check: those of the change set, never the work tree, so that what is committed is what was
 * looked at. All rules share one reading, and a content that was read before is not parsed again.
 */
import { hash } from 'node:crypto';
import { isToolError } from '@tool-runtime/protocol';
import type { ChangedFile, ChangeSet, RuleContext } from '@tool-runtime/sdk';
import type { FileFacts, NodeFact, RefFact } from '../contracts/facts.ts';
import { type LanguageFinder, mayBeScript } from '../index/language-finder.ts';
import { skipByName } from '../index/skip-by-name.ts';
import type { ParsedSource } from '../parse/source-parser.ts';
import { compileGlobs } from '../profile/compile-glob.ts';
import { loadProfile } from '../profile/load-profile.ts';
import type { LanguageProfile } from '../profile/profile.ts';
import type { Engine } from '../symbols/engine.ts';
import {
  type CodePlace,
  type CodeRecord,
  ignoreMarks,
  type PlaceKind,
  RECORD_VERSION,
  type UndocumentedPlace,
} from './code-record.ts';

export interface InspectedFile {
  readonly file: ChangedFile;
  readonly record: CodeRecord;
}

/** What an inspection needs of the engine. */
export interface InspectServices {
  /** What rules have read of a set of changes: they are asked one after the other about the same one. */
  readonly inspections: WeakMap<ChangeSet, Promise<readonly InspectedFile[]>>;
  languages(): Promise<LanguageFinder>;
  engine(): Promise<Engine>;
}

export interface InspectParts {
  readonly services: InspectServices;
  readonly context: Pick<RuleContext, 'cache' | 'signal'>;
}

const REGULAR = new Set(['100644', '100755']);
const FIRST_LINE_BYTES = 200;

/** By path. */
export function inspectChanges(changes: ChangeSet, parts: InspectParts): Promise<readonly InspectedFile[]> {
  const { inspections } = parts.services;
  const known = inspections.get(changes);
  if (known !== undefined) return known;
  const inspection = inspect(changes, parts);
  inspections.set(changes, inspection);
  // A reading that failed, or was cancelled, says nothing about the contents.
  inspection.catch(() => inspections.delete(changes));
  return inspection;
}

async function inspect(changes: ChangeSet, parts: InspectParts): Promise<readonly InspectedFile[]> {
  const { cache } = parts.context;
  const done: InspectedFile[] = [];
  const pending = new Map<ChangedFile, string | undefined>();
  for (const [file, language] of await sourcesOf(changes, parts)) {
    const key = await keyOf(file, language, parts);
    const kept = key === undefined ? undefined : cache.get(key);
    if (kept === undefined) pending.set(file, language);
    else done.push({ file, record: JSON.parse(kept) as CodeRecord });
  }
  for await (const { file, bytes } of changes.contents([...pending.keys()])) {
    parts.context.signal.throwIfAborted();
    const record = await read(file, { bytes, language: pending.get(file) }, parts);
    const key = await keyOf(file, pending.get(file), parts);
    pending.delete(file);
    if (record === undefined) continue;
    done.push({ file, record });
    if (key !== undefined) cache.set(key, JSON.stringify(record));
  }
  // In a work tree files come and go; in git's store a content that is named must be there.
  const missing = changes.tree === undefined ? [] : [...pending];
  done.push(...missing.map(([file, language]) => ({ file, record: unknownRecord(language, 'unread') })));
  return done.sort((left, right) => (left.file.path < right.file.path ? -1 : 1));
}

/** Files that are source by their name, with their language, and those whose first line may say so, without. */
async function sourcesOf(
  { files }: ChangeSet,
  { services }: InspectParts,
): Promise<readonly (readonly [ChangedFile, string | undefined])[]> {
  const languages = await services.languages();
  const candidates = files.filter(({ kind, mode }) => kind !== 'deleted' && REGULAR.has(mode));
  // Where several languages claim a name, its neighbours decide; asked in one go, because others may teach it too.
  languages.learn(
    candidates.map(({ path }) => path),
    'all',
  );
  return candidates.flatMap((file) => {
    const language = languages.byName(file.path);
    const isWanted = language === undefined ? mayBeScript(file.path) : skipByName(file.path) === undefined;
    return isWanted ? [[file, language] as const] : [];
  });
}

/** Facts depend on where a file lies: what is a test or a library goes by its path. */
async function keyOf(
  { blob, sha256, path }: ChangedFile,
  language: string | undefined,
  { services }: InspectParts,
): Promise<string | undefined> {
  const content = blob ?? sha256;
  if (content === undefined || language === undefined) return undefined;
  const parser = (await services.languages()).parserKey(language);
  return `code:${RECORD_VERSION}:${parser}:${content}:${hash('sha256', path).slice(0, 16)}`;
}

async function read(
  { path }: ChangedFile,
  content: { readonly bytes: Uint8Array; readonly language: string | undefined },
  { services, context }: InspectParts,
): Promise<CodeRecord | undefined> {
  const engine = await services.engine();
  const { bytes } = content;
  const language = content.language ?? engine.detect(path, { firstLine: firstLine(bytes) });
  if (language === undefined) return undefined;
  try {
    const parsed = await engine.parse({ path, language, bytes, signal: context.signal });
    try {
      return inspectSource(parsed, engine.facts(parsed, path), path);
    } finally {
      parsed.delete();
    }
  } catch (thrown) {
    if (!isToolError(thrown) || context.signal.aborted) throw thrown;
    // A file that is not text is not source code, regardless of its name.
    const reason = String(thrown.details['reason'] ?? 'unknown');
    return reason === 'binary' ? undefined : unknownRecord(language, reason);
  }
}

function firstLine(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, FIRST_LINE_BYTES)).toString('utf8').split('\n', 1)[0] ?? '';
}

function unknownRecord(language: string | undefined, reason: string): CodeRecord {
  const nothing = { undocumented: [], panics: [], unwraps: [], imports: [], ignored: [] };
  return { language: language ?? '', docLabel: '', ...nothing, unknown: { reason, mayHold: placesIn(language) } };
}

/** Every language that can end the program has functions and imports; languages of data have none of it. */
function placesIn(language: string | undefined): readonly PlaceKind[] {
  if (language === undefined) return [];
  const { panic, unwrap } = loadProfile(language).profile;
  const hasNames = ({ call, macro }: typeof panic): boolean => call.length + macro.length > 0;
  if (!hasNames(panic)) return [];
  return ['undocumented', 'panics', 'imports', ...(hasNames(unwrap) ? (['unwraps'] as const) : [])];
}

/** Reads one content for the rules of the commit phase. What is test code or a library is the profile's word. */
function inspectSource(parsed: ParsedSource, facts: FileFacts, path: string): CodeRecord {
  const { profile } = parsed.parser;
  // Generated code is fixed in its generator.
  const own = facts.generated ? { ...facts, nodes: [], refs: [] } : facts;
  const refs = refsOutsideTests(own, profile, path);
  return {
    language: facts.language,
    docLabel: profile.doc.label,
    undocumented: profile.doc.by === 'none' ? [] : undocumented(own, parsed),
    panics: facts.library ? namedIn(refs, profile.panic) : [],
    unwraps: namedIn(refs, profile.unwrap),
    imports: facts.imports.map(({ source, line, typeOnly = false }) => ({ source, line, typeOnly })),
    ignored: ignoreMarks(parsed),
  };
}

/** Overloads and accessors are documented once: at whichever of them the author chose. */
function undocumented({ nodes }: FileFacts, { source }: ParsedSource): UndocumentedPlace[] {
  const documented = new Set(nodes.filter((node) => node.hasDoc).map(declarationKey));
  return nodes
    .filter((node) => (node.type === 'fn' || node.type === 'method') && node.exported && !node.test && !node.hasDoc)
    .filter((node) => !documented.has(declarationKey(node)))
    .map(({ id, name, line, fullSpan }) => {
      const from = source.rowOf(source.toOffset(fullSpan.start)) + 1;
      return { id, name, line, from };
    });
}

function declarationKey({ type, container, name }: NodeFact): string {
  return `${type}\0${container}\0${name}`;
}

function refsOutsideTests(facts: FileFacts, profile: LanguageProfile, path: string): readonly RefFact[] {
  if (compileGlobs(profile.test.paths).test(path)) return [];
  return facts.refs.filter(({ node }) => facts.nodes[node]?.test !== true);
}

/** One finding for each place; code in the arguments of a macro appears twice when macros nest. */
function namedIn(refs: readonly RefFact[], names: LanguageProfile['panic']): CodePlace[] {
  const found = refs.filter(({ kind, name }) => (kind === 'macro' ? names.macro : names.call).includes(name));
  const places = new Map(
    found.map(({ kind, name, start, line }) => [start, { name: shown(kind, name), line, from: line }]),
  );
  return [...places.values()];
}

/** `panic!`, `unwrap()`; an operator such as `!` as it is. */
function shown(kind: RefFact['kind'], name: string): string {
  if (!/^[\p{L}_]/u.test(name)) return name;
  return kind === 'macro' ? `${name}!` : `${name}()`;
}
