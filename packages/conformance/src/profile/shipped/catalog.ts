/** Every profile that is shipped, one line each. */
export { desktopCommander } from './desktop-commander.ts';
export { fastFilesystem } from './fast-filesystem.ts';
export { filesystemMcp } from './filesystem-mcp.ts';
export { mcpServerCommands } from './mcp-server-commands.ts';
export { serverFilesystem } from './server-filesystem.ts';
export { toolRuntimeEnvelopes } from './tool-runtime-envelopes.ts';
export { toolRuntimeMcp } from './tool-runtime-mcp.ts';
