/** The refusal of an address: the host, the registry field, and what to do instead. */
import { type JsonObject, ToolError } from '@tool-runtime/protocol';

export const EGRESS_RULE = 'sec.network.allowlist';
const FIELD = 'network.allowed_domains';

export interface EgressRefusal {
  /** Absent when the text does not even name a host. */
  readonly host?: string;
  readonly reason: string;
  readonly next: string;
}

export function egressRefused(problem: string, { host, reason, next }: EgressRefusal): ToolError {
  const details: JsonObject = {
    gate: 'rule',
    rule: EGRESS_RULE,
    field: FIELD,
    ...(host === undefined ? {} : { host }),
    reason,
    next,
  };
  return new ToolError('E_POLICY', host === undefined ? problem : `${problem}: ${host}`, { path: 'url', details });
}
