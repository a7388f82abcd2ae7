/**
 * Deno runs most programs for Node, and not this one: the descriptors that hold paths inside the workspace rest on calls
 * of Node that it answers differently. Better said at once than found out in the middle of a call. Bun is let through.
 */
import { ToolError } from '@tool-runtime/protocol';

export function refuseOtherEngines({ deno }: Readonly<Record<string, string | undefined>>): void {
  if (deno === undefined) return;
  throw new ToolError('E_VALIDATION_FAIL', `The runtime needs Node, and this is Deno ${deno}`, {
    details: {
      reason: 'unsupported_engine',
      next: 'run the program with Node 22.19, 24 or 26; from Deno, start `tool-runtime serve` and use the client of @tool-runtime/protocol',
    },
  });
}
