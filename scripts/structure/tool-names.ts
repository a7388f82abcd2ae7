/** Shared code asks a tool what it declares; the moment it compares a name, a new tool needs an edit there. */
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
