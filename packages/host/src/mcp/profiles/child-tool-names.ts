/** Names of the tools for child sessions, apart from their definitions: a client that opens a server waits for what is loaded. */
export const CHILD_OPEN_NAME = 'child_open';
export const CHILD_CALL_NAME = 'child_call';
export const CHILD_CLOSE_NAME = 'child_close';

export const CHILD_TOOL_NAMES: ReadonlySet<string> = new Set([CHILD_OPEN_NAME, CHILD_CALL_NAME, CHILD_CLOSE_NAME]);
