/**
 * What outlives one editor: what ids meant, so that a stale one can be answered with the declaration that was probably
 * meant, and the pattern matcher, which is costly to load.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import type { CodeIndex, QueryNode } from '../contracts/code-index-contract.ts';
import type { PatternMatcher } from '../rewrite/pattern-matcher.ts';

export type RememberedNode = Pick<QueryNode, 'id' | 'name' | 'type' | 'file'>;

const MAX_NODES = 20_000;

export class SessionMemory {
  readonly #renamed = new Map<string, string>();
  readonly #nodes = new Map<string, RememberedNode>();
  #patterns: PatternMatcher | undefined;

  patterns(make: () => PatternMatcher): PatternMatcher {
    this.#patterns ??= make();
    return this.#patterns;
  }

  remember(nodes: readonly RememberedNode[]): void {
    for (const { id, name, type, file } of nodes) {
      // The id says it all: what it means does not change.
      if (this.#nodes.has(id)) continue;
      this.#nodes.set(id, { id, name, type, file });
      if (this.#nodes.size > MAX_NODES) this.#forgetOldest();
    }
  }

  #forgetOldest(): void {
    const [oldest] = this.#nodes.keys();
    if (oldest !== undefined) this.#nodes.delete(oldest);
  }

  /** An edit was applied that gave declarations other ids. */
  rename(ids: Readonly<Record<string, string>>): void {
    for (const [old, fresh] of Object.entries(ids)) {
      this.#renamed.set(old, fresh);
      // The name may go back to what it was.
      this.#renamed.delete(fresh);
    }
  }

  /** The one declaration that is now what the id meant, as `details.candidate`. */
  async candidate(id: string, index: CodeIndex): Promise<JsonObject | undefined> {
    let now = id;
    for (let next = this.#renamed.get(now); next !== undefined; next = this.#renamed.get(now)) now = next;
    const found = now === id ? undefined : await index.nodeById(now);
    if (found !== undefined && !found.ambiguous) return describe(found.node);
    const known = this.#nodes.get(id);
    if (known === undefined || /[*?]/.test(known.name)) return undefined;
    const { nodes } = await index.query({ type: known.type, name_like: known.name }, { limit: 2, fresh: true });
    return nodes.length === 1 && nodes[0] !== undefined ? describe(nodes[0]) : undefined;
  }
}

export function describe({ id, rev, name, type, file, line }: QueryNode): JsonObject {
  return { id, rev, name, type, file, line };
}
