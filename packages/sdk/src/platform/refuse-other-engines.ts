/**
 * Deno and Bun run most programs for Node, and not this one: the descriptors that hold paths inside the workspace rest on
 * calls of Node that Deno answers differently, and searches do not end in Bun. Better said at once than found out in the
 * middle of a call.
 */
import { ToolError } from '@tool-runtime/protocol';

export function refuseOtherEngines({ bun, deno }: Readonly<Record<string, string | undefined>>): void {
  const engine = bun === undefined ? deno && `Deno ${deno}` : `Bun ${bun}`;
  if (engine === undefined) return;
  throw new ToolError('E_VALIDATION_FAIL', `The runtime needs Node, and this is ${engine}`, {
    details: {
      reason: 'unsupported_engine',
      next: 'run the program with Node 22.19, 24 or 26; from Bun or Deno, start `tool-runtime serve` and use the client of @tool-runtime/protocol',
    },
  });
}
