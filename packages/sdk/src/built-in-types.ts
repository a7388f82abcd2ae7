/** Puts the built-in tools into the map of calls by name. */
import type * as catalog from './tools/catalog.ts';

type Catalog = typeof catalog;
type BuiltInTools = { readonly [Key in keyof Catalog as Catalog[Key]['name']]: Catalog[Key] };

declare module './contracts/tool-types.ts' {
  interface ToolTypes extends BuiltInTools {}
}
