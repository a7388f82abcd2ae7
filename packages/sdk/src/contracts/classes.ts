/** Closed vocabularies of routes, policies and records. Written in snake_case; PascalCase is accepted on input. */

export const EFFECT_CLASSES = ['read', 'write', 'process', 'network', 'approval_dispatch', 'output_delivery'] as const;
export type EffectClass = (typeof EFFECT_CLASSES)[number];

export const RISK_CLASSES = ['low', 'medium', 'high', 'critical'] as const;
export type RiskClass = (typeof RISK_CLASSES)[number];

/** Ordered from open to closed; only `public` lets raw content travel by default. */
export const PRIVACY_CLASSES = ['public', 'internal', 'content_refs_only', 'sensitive', 'secret'] as const;
export type PrivacyClass = (typeof PRIVACY_CLASSES)[number];

export const RETENTION_CLASSES = [
  'ephemeral',
  'run_scoped',
  'session_scoped',
  'durable',
  'persistent',
  'host_policy',
] as const;
export type RetentionClass = (typeof RETENTION_CLASSES)[number];

export const TRUST_CLASSES = [
  'trusted',
  'sdk_generated',
  'host_provided',
  'user_provided',
  'external',
  'untrusted',
] as const;
export type TrustClass = (typeof TRUST_CLASSES)[number];

export const TERMINAL_STATUSES = [
  'completed',
  'failed',
  'timed_out',
  'cancelled',
  'denied_before_execution',
  'unknown',
] as const;
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

export const POLICY_STAGES = [
  'input',
  'model_input_projection',
  'pre_tool',
  'post_tool',
  'output',
  'handoff',
  'stream',
  'delivery',
] as const;
export type PolicyStage = (typeof POLICY_STAGES)[number];

export const ENFORCEMENTS = ['blocking', 'warning', 'suggestion'] as const;
export type Enforcement = (typeof ENFORCEMENTS)[number];

/** `PreTool` → `pre_tool`; anything already in snake_case stays as it is. */
export function toSnakeCase(value: string): string {
  return value.replace(/[A-Z]/g, (letter, at: number) => (at === 0 ? '' : '_') + letter.toLowerCase());
}
