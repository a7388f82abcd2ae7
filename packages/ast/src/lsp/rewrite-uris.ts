/**
 * Any parameters and any answer of the protocol with their file names checked and translated, wherever they are.
 *
 * A field counts as a file name by its key or because it begins with `file:`. `data` is the server's own and travels as
 * a kept name. Depth is bounded because an answer may be nested deeper than our stack.
 */

import type { KeptValues } from './kept-values.ts';
import { badAnswer, badRequest, outsideWorkspace } from './server-errors.ts';
import type { WorkspaceUris } from './workspace-uris.ts';

export interface Translation {
  readonly uris: WorkspaceUris;
  readonly kept: KeptValues;
}

const MAX_DEPTH = 100;
const URI_KEYS = new Set(['uri', 'targetUri', 'oldUri', 'newUri', 'baseUri', 'documentUri']);
/** Tables whose keys are URIs. */
const URI_TABLES = new Set(['changes', 'relatedDocuments']);

/** What may leave: paths relative, places outside opaque. Throws E_INTERNAL for an answer nested too deeply. */
export function revealAnswer(value: unknown, { uris, kept }: Translation, method: string): unknown {
  const reveal = (given: unknown, key: string, depth: number): unknown => {
    if (depth > MAX_DEPTH) throw badAnswer(method, 'nested too deeply');
    if (typeof given === 'string') return URI_KEYS.has(key) ? uris.nameOf(given) : uris.hideIn(given);
    if (Array.isArray(given)) return given.map((item) => reveal(item, key, depth + 1));
    if (typeof given !== 'object' || given === null) return given;
    return Object.fromEntries(
      Object.entries(given).map(([name, item]) => {
        if (name === 'data') return [name, kept.keep(item)];
        const shown = URI_TABLES.has(key) ? uris.nameOf(name) : uris.hideIn(name);
        return [shown, reveal(item, name, depth + 1)];
      }),
    );
  };
  return reveal(value, '', 0);
}

export interface SealedParams {
  readonly params: unknown;
  /** Workspace-relative names of every file they mention. */
  readonly paths: readonly string[];
}

/** What may go in. Files are named by relative path or by URI below the root; E_POLICY for anything else. */
export function sealParams(value: unknown, { uris, kept }: Translation): SealedParams {
  const paths: string[] = [];
  const file = (given: string): string => {
    const path = /^[a-z][a-z0-9+.-]*:/i.test(given) ? uris.toPath(given) : given;
    if (path === null) throw outsideWorkspace(uris.hideIn(given));
    const uri = uris.toUri(path);
    paths.push(uris.toPath(uri) ?? path);
    return uri;
  };
  const seal = (given: unknown, key: string, depth: number): unknown => {
    if (depth > MAX_DEPTH) throw badRequest('Parameters are nested too deeply', 'give the parameters of the protocol');
    if (typeof given === 'string') return URI_KEYS.has(key) || /^\s*file:/i.test(given) ? file(given.trim()) : given;
    if (Array.isArray(given)) return given.map((item) => seal(item, key, depth + 1));
    if (typeof given !== 'object' || given === null) return given;
    return Object.fromEntries(
      Object.entries(given).map(([name, item]) => [
        name,
        name === 'data' && item !== undefined ? kept.get(item) : seal(item, name, depth + 1),
      ]),
    );
  };
  return { params: seal(value, '', 0), paths };
}
