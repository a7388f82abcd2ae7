/** Why a foreign tool may not be used: its definition was never approved, is another one by now, or is out of bounds. */
import { ToolError } from '@tool-runtime/protocol';
import { ownEntry, type ServerPins } from './pin-file.ts';

export interface QuarantineSubject {
  readonly server: string;
  /** At the server. */
  readonly tool: string;
  /** In the runtime. */
  readonly name: string;
  /** Of the definition that sessions are shown; undefined where there was none to show. */
  readonly digest: string | undefined;
}

export function quarantineReason(subject: QuarantineSubject, pins: ServerPins): ToolError | undefined {
  const { server, tool, name, digest } = subject;
  const pin = ownEntry(pins.tools, tool);
  const next = `let the operator look at it: tool-runtime mcp approve ${server} ${tool}`;
  if (pin?.refused !== undefined) {
    return refusal(`Definition of the tool is refused (${pin.refused}): ${name}`, 'definition_refused', {
      next: 'ask the maker of the MCP server to fix it',
    });
  }
  if (pin?.approved === undefined) {
    return refusal(`Definition of the tool is not approved: ${name}`, 'definition_unapproved', { next });
  }
  if (pin.pending !== undefined) {
    return refusal(`Definition of the tool changed since it was approved: ${name}`, 'definition_changed', { next });
  }
  if (pin.approved.digest === digest) return undefined;
  return refusal(`Definition of the tool was approved anew: ${name}`, 'definition_changed', {
    next: 'open a new runtime, which knows the new one',
  });
}

function refusal(message: string, reason: string, details: { readonly next: string }): ToolError {
  return new ToolError('E_POLICY', message, { details: { gate: 'route', reason, ...details } });
}
