/** Every group, one line each. */
export { ast } from './groups/ast.ts';
export { changes } from './groups/changes.ts';
export { commands } from './groups/commands.ts';
export { consolePages } from './groups/console.ts';
export { files } from './groups/files.ts';
export { fleet } from './groups/fleet.ts';
export { git } from './groups/git.ts';
export { growth } from './groups/growth.ts';
export { journal } from './groups/journal.ts';
export { kernel } from './groups/kernel.ts';
export { mcp } from './groups/mcp.ts';
export { patch } from './groups/patch.ts';
export { start } from './groups/start.ts';
export { tokens } from './groups/tokens.ts';
export { transports } from './groups/transports.ts';
