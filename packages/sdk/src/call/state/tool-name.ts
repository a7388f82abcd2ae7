/** Calls to tools that do not exist are counted together: their names come from outside and are not bounded. */
import type { SessionParts } from './session-parts.ts';

const UNKNOWN_TOOL = '(unknown)';

export function boundedToolName(name: string, { tools }: SessionParts): string {
  return tools.has(name) ? name : UNKNOWN_TOOL;
}
