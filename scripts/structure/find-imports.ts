/**
 * The imports of one scanned source.
 *
 * `import { type A }` counts as a value import: under `verbatimModuleSyntax` the module is still loaded.
 * A dynamic import is lazy, so it binds to a layer but closes no load-time cycle.
 */
import type { Scan } from './scan-source.ts';

export interface ImportLink {
  readonly specifier: string;
  readonly offset: number;
  readonly kind: 'value' | 'type' | 'dynamic';
}

const STATIC = /(?<![.\w$])(?:import|export)\s+(type\s+(?!from\b))?(?:[\w$\s{},*]*?\s*\bfrom\s*)?(?=['"])/g;
const BRACED = /(?<![.\w$])(?:import|export)\s*(type\s*)?(?:[\w$]+\s*,\s*)?\{[^}]*\}\s*from\s*(?=['"])/g;
const DYNAMIC = /(?<![.\w$])(?:import|require)\s*\(\s*(?=['"])/g;

export function findImports(scan: Scan): ImportLink[] {
  const links = new Map<number, ImportLink>();
  for (const pattern of [BRACED, STATIC]) {
    for (const match of scan.code.matchAll(pattern)) add(match, match[1] === undefined ? 'value' : 'type');
  }
  for (const match of scan.code.matchAll(DYNAMIC)) add(match, 'dynamic');
  return [...links.values()].sort((left, right) => left.offset - right.offset);

  function add(match: RegExpMatchArray, kind: ImportLink['kind']): void {
    const quoteAt = (match.index ?? 0) + match[0].length;
    const literal = scan.strings.find((string) => string.offset === quoteAt);
    if (literal === undefined || links.has(quoteAt)) return;
    links.set(quoteAt, { specifier: literal.value, offset: match.index ?? 0, kind });
  }
}
