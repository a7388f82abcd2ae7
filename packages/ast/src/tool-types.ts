/** Puts the tools of this package into the map of calls by name: `session.call('ast_query', …)` is typed. */
import type * as catalog from './tools/catalog.ts';

type Catalog = typeof catalog;
type Made<Make> = Make extends (use: never) => infer Tool ? Tool : never;
type Named<Tool> = Tool extends { readonly name: infer Name extends string } ? Name : never;
type AstTools = { readonly [Key in keyof Catalog as Named<Made<Catalog[Key]>>]: Made<Catalog[Key]> };

declare module '@tool-runtime/sdk' {
  interface ToolTypes extends AstTools {}
}

declare global {
  /** The declarations of web-tree-sitter name it without defining it. Merges with a definition where there is one. */
  interface EmscriptenModule {}
}
