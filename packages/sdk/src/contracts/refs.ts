/** Pointers that travel in records instead of the things themselves. */
import type { PrivacyClass, TrustClass } from './classes.ts';

export const POLICY_KINDS = [
  'approval',
  'permission',
  'sandbox',
  'context',
  'privacy',
  'retention',
  'redaction',
  'runtime_package',
  'host',
] as const;
export type PolicyKind = (typeof POLICY_KINDS)[number];

/** A ref of kind `host` means "no policy was named" and is refused wherever one is required. */
export interface PolicyRef {
  readonly kind: PolicyKind;
  readonly id: string;
  readonly version?: string;
}

export const SOURCE_KINDS = [
  'sdk',
  'host',
  'user',
  'system',
  'developer',
  'memory',
  'compaction',
  'hook',
  'extension',
  'tool',
  'remote_channel',
  'scheduled_task',
  'subagent',
  'external_runtime',
  'replay',
] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

export interface SourceRef {
  readonly kind: SourceKind;
  readonly id: string;
  readonly trust: TrustClass;
  readonly privacy: PrivacyClass;
  readonly correlation?: readonly string[];
  readonly redacted_summary?: string;
}

export const DESTINATION_KINDS = [
  'agent',
  'agent_pool',
  'topic',
  'provider',
  'context_projection',
  'journal',
  'event_stream',
  'telemetry',
  'output_sink',
  'host',
  'user',
  'remote_channel',
  'tool',
  'extension',
  'subagent',
  'external_runtime',
] as const;
export type DestinationKind = (typeof DESTINATION_KINDS)[number];

export interface DestinationRef {
  readonly kind: DestinationKind;
  readonly id: string;
}

export interface EntityRef {
  readonly kind: string;
  readonly id: string;
  readonly privacy?: PrivacyClass;
  readonly redacted_summary?: string;
}

/** Raw content by reference: where it is kept and what it hashes to. */
export interface ContentRef {
  readonly id: string;
  readonly digest?: string;
  readonly bytes?: number;
}
