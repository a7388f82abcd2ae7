/** What tools declare, and that shared code asks for that: the moment it compares a name, a new tool needs an edit there. */
import { CATALOG_KINDS } from './catalog-kinds.ts';
import { definedId, entriesOf } from './catalogs.ts';
import type { Finding } from './finding.ts';
import type { Tree } from './read-tree.ts';

const SHARED_CODE = /^packages\/sdk\/src\/(?:call|session|policy|registry|package|journal)\//;

export function checkToolNames(tree: Tree): Finding[] {
  const names = new Set(toolNames(tree));
  return tree.sources
    .filter((file) => SHARED_CODE.test(file.path) && !file.isTest)
    .flatMap((file) =>
      file.strings
        .filter((string) => names.has(string.value) && !isPhase(file.text, string.offset))
        .map((string) => ({
          level: 'fail' as const,
          check: 'tool-names',
          file: file.path,
          line: file.lineAt(string.offset),
          what: `A tool's name in shared code: ${string.value}`,
          next: 'Let the tool declare what matters (kind, level, arg_schema, needs) and ask for that',
        })),
    );
}

/** A phase of a call may be called what a tool is called; announcing it compares nothing. */
function isPhase(text: string, offset: number): boolean {
  return text.slice(0, offset).endsWith('phase: ');
}

function toolNames(tree: Tree): string[] {
  return CATALOG_KINDS.filter((kind) => kind.thing === 'tool').flatMap((kind) =>
    entriesOf(tree, kind).flatMap((file) => definedId(kind, file)?.id ?? []),
  );
}

const DEFINITION = /\bdefineTool\(\{/g;
/** The first one of a definition; those in a profile come later. */
const EFFECT = /^ +effect: (.+),$/m;
const DECLARED = /^ +(?:async )?rehearse\b/m;

/** A tool that changes something says how a lost call is told from one that never ran, or that it cannot be. */
export function checkLostCalls(tree: Tree): Finding[] {
  return tree.sources
    .filter((file) => /^packages\/\w+\/src\//.test(file.path) && !file.isTest && !file.path.includes('/testing/'))
    .flatMap((file) => {
      const starts = [...file.text.matchAll(DEFINITION)].map(({ index }) => index);
      return starts
        .filter((start, at) => !isDeclared(file.text.slice(start, starts[at + 1])))
        .map((start) => ({
          level: 'fail' as const,
          check: 'lost-calls',
          file: file.path,
          line: file.lineAt(start),
          what: 'A tool that changes something does not say how a lost call is recognised',
          next: "Give it `rehearse`: 'run', a function, or 'none' where its effect cannot be compared",
        }));
    });
}

function isDeclared(definition: string): boolean {
  const effect = EFFECT.exec(definition)?.[1];
  return effect === undefined || effect === "'read'" || DECLARED.test(definition);
}
