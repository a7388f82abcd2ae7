/** The refusal of this folder: E_POLICY with the rule, what is wrong, and what would pass. */
import type { JsonObject, ToolError } from '@tool-runtime/protocol';
import { policyDenial } from '../contracts/failures.ts';

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
