/** The tools that every runtime has, as they are defined, for programs that describe them. */
import type { AnyTool } from './contracts/tool.ts';
import * as catalog from './tools/catalog.ts';

export function builtInTools(): readonly AnyTool[] {
  return Object.values(catalog);
}
