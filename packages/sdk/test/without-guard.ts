/** A git tool under another name that the rules about git do not see: then git itself has to refuse. */
import { type AnyTool, defineTool } from '../src/contracts/tool.ts';

export function withoutGuard(tool: AnyTool): AnyTool {
  const { git: _, ...rest } = tool;
  return defineTool({ ...rest, name: `unguarded_${tool.name}` });
}
