/**
 * The kit for writing external tools (`@tool-runtime/sdk/tool-kit`): answers `--capabilities`, reads the environment of
 * a run, writes `result.json`. It runs inside the tool's own process and needs nothing but Node; the folder tool-kit/
 * may be copied beside a tool or bundled into it.
 */
export { runTool, type ToolDescription } from './tool-kit/run-tool.ts';
export type { ToolContext } from './tool-kit/tool-context.ts';
export { ToolFailure } from './tool-kit/tool-context.ts';
