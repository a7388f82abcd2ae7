/** Name tokens while they are being resolved, and which of them is the whole of an expression. */
import type { ScopeDraft } from './build-scopes.ts';
import type { NameToken, TextRange } from './scope-model.ts';

export type TokenDraft = { -readonly [Key in keyof Omit<NameToken, 'scope'>]: NameToken[Key] } & {
  readonly scope: ScopeDraft;
};

/** The token, when it or a chain of members that ends with it fills the range; `a + b` is not its last name. */
export function standsFor<T extends NameToken>(last: T | undefined, { start, end }: TextRange): T | undefined {
  if (last?.end !== end || start < 0) return start < 0 ? last : undefined;
  for (let link: NameToken | undefined = last; link !== undefined; link = link.object) {
    if (link.start === start) return last;
  }
  return undefined;
}
