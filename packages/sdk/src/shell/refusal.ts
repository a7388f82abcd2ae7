/** The one way this folder says no: E_POLICY that names the rule, what was wrong, and what would pass. */
import type { JsonObject, ToolError } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';

const MAX_SHOWN = 120;

export const SHELL_RULE = 'sec.shell.allowlist';

export interface RefusalDetails extends JsonObject {
  /** Stable, for programs. */
  readonly reason: string;
  /** The nearest form that passes, in words. */
  readonly next: string;
}

export function shellRefusal(message: string, details: RefusalDetails): ToolError {
  return policyDenial(message, { details: { gate: 'rule', rule: SHELL_RULE, ...details } });
}

/** Part of a caller's text, fit for a message: short, and nothing in it moves a cursor. */
export function shown(text: string): string {
  const printable = text.toWellFormed().replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '?');
  return printable.length > MAX_SHOWN ? `${printable.slice(0, MAX_SHOWN).toWellFormed()}…` : printable;
}
