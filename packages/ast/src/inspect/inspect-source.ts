/** Reads one content for the rules of the commit phase. What is test code or a library is the profile's word. */
import type { FileFacts, NodeFact, RefFact } from '../contracts/facts.ts';
import type { ParsedSource } from '../parse/source-parser.ts';
import { compileGlobs } from '../profile/compile-glob.ts';
import type { LanguageProfile } from '../profile/profile.ts';
import type { CodePlace, CodeRecord, UndocumentedPlace } from './code-record.ts';
import { ignoreMarks } from './ignore-marks.ts';

export function inspectSource(parsed: ParsedSource, facts: FileFacts, path: string): CodeRecord {
  const { profile } = parsed.parser;
  // What a program wrote is mended in the program.
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
  const documented = new Set(nodes.filter((node) => node.hasDoc).map(keyOf));
  return nodes
    .filter((node) => (node.type === 'fn' || node.type === 'method') && node.exported && !node.test && !node.hasDoc)
    .filter((node) => !documented.has(keyOf(node)))
    .map(({ id, name, line, fullSpan }) => {
      const from = source.rowOf(source.toOffset(fullSpan.start)) + 1;
      return { id, name, line, from };
    });
}

function keyOf({ type, container, name }: NodeFact): string {
  return `${type}\0${container}\0${name}`;
}

function refsOutsideTests(facts: FileFacts, profile: LanguageProfile, path: string): readonly RefFact[] {
  if (compileGlobs(profile.test.paths).test(path)) return [];
  return facts.refs.filter(({ node }) => facts.nodes[node]?.test !== true);
}

/** One finding for each place; what stands in the arguments of a macro is there twice when macros nest. */
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
