/** What the new name would meet, for renames planned by a server alone: servers accept names that are taken. */
import { lookUp } from '../../scope/look-up.ts';
import { resolveScopes } from '../../scope/resolve-scopes.ts';
import type { Target } from '../edit-desk.ts';
import type { Work } from '../work.ts';
import type { NameEdit } from './name-edit.ts';

export interface Collision {
  readonly path: string;
  readonly line: number;
  readonly kind: string;
}

export async function findCollisions(
  target: Target,
  newName: string,
  edits: readonly NameEdit[],
  { desk }: Work,
): Promise<readonly Collision[]> {
  const { draft, node } = target;
  const found: Collision[] = draft.facts.nodes
    .filter((one) => one.name === newName && one.container === node.container && one.parent === node.parent)
    .map(({ line }) => ({ path: draft.path, line, kind: 'collision' }));
  for (const [path, own] of Map.groupBy(edits, (edit) => edit.path)) {
    const file = await desk.draft(path);
    if (file.parser.queries.locals === undefined) continue;
    const scopes = resolveScopes(file.parsed);
    for (const { start } of own) {
      const token = scopes.tokenAt(file.source.toOffset(start));
      if (token === undefined || token.role === 'member' || token.role === 'other') continue;
      const taken = lookUp({ name: newName, spaces: token.spaces, scope: token.scope, at: token.start });
      if (taken === undefined) continue;
      found.push({ path, line: file.source.rowOf(token.start) + 1, kind: 'capture' });
    }
  }
  return found;
}
