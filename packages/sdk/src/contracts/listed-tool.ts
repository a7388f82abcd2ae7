/**
 * A built-in tool as the bundles list it: its facts, with the schemas as the build wrote them. The tool itself, with its
 * code, is loaded by its first call. Sources list the tools themselves.
 */
import type { AnyTool } from './tool.ts';

export interface ListedTool extends AnyTool {
  /** Of the schema of the arguments. */
  readonly schemaDigest: string;
  load(): Promise<AnyTool>;
}

export function isListedTool(tool: AnyTool): tool is ListedTool {
  return 'load' in tool && 'schemaDigest' in tool;
}
