/** Puts the tools of this package into the map of calls by name. */
import type * as catalog from './tools/catalog.ts';

type Catalog = typeof catalog;
type AstTools = { readonly [Key in keyof Catalog as ReturnType<Catalog[Key]>['name']]: ReturnType<Catalog[Key]> };

declare module '@tool-runtime/sdk' {
  interface ToolTypes extends AstTools {}
}
