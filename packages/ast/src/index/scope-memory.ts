/** Which parts of the workspace were asked for, across processes: files made there later are indexed without asking. */
import { z } from 'zod';
import type { Scope } from './find-sources.ts';
import type { RecordStore } from './record-store.ts';

const KEY = 'scopes';
const MAX_SCOPES = 20;

const scopesSchema = z.array(
  z.object({
    globs: z.array(z.string()),
    language: z.string().optional(),
    maxFiles: z.number(),
  }),
);

export class ScopeMemory {
  readonly #store: RecordStore;
  #scopes: readonly Scope[];

  constructor(store: RecordStore) {
    this.#store = store;
    this.#scopes = read(store.setting(KEY));
  }

  all(): readonly Scope[] {
    return this.#scopes;
  }

  /** The whole workspace makes every other scope superfluous. */
  add(scope: Scope): void {
    const isAll = scope.globs.length === 0 && scope.language === undefined;
    const others = this.#scopes.filter((one) => !isAll && keyOf(one) !== keyOf(scope));
    this.#scopes = [...others, scope].slice(-MAX_SCOPES);
    this.#store.setSetting(KEY, JSON.stringify(this.#scopes));
  }
}

function keyOf({ globs, language }: Scope): string {
  return JSON.stringify([globs, language ?? null]);
}

function read(text: string | undefined): readonly Scope[] {
  try {
    const parsed = scopesSchema.safeParse(JSON.parse(text ?? '[]'));
    return parsed.success ? parsed.data.map((one) => ({ ...one, language: one.language })) : [];
  } catch {
    // Only the memory of earlier scopes is lost.
    return [];
  }
}
