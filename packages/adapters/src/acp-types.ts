/** The part of the Agent Client Protocol (version 1) that tool calls and permissions use, in types of our own. */
import type { ToolKind } from '@tool-runtime/sdk';

/** The protocol's word for a change of an agent's mode. No tool of ours is that: it is understood, never sent. */
export const ACP_SWITCH_MODE = 'switch_mode';

export type AcpStatus = 'pending' | 'in_progress' | 'completed' | 'failed';

export interface AcpLocation {
  /** Absolute. */
  path: string;
  /** From 1. */
  line?: number;
}

export interface AcpDiff {
  type: 'diff';
  /** Absolute. */
  path: string;
  /** Null for a new file. */
  oldText: string | null;
  newText: string;
}

export interface AcpText {
  type: 'content';
  content: { type: 'text'; text: string };
}

export type AcpContent = AcpDiff | AcpText;

export interface AcpToolCall {
  toolCallId: string;
  title: string;
  kind: ToolKind;
  status: AcpStatus;
  locations: AcpLocation[];
  content: AcpContent[];
  rawInput: unknown;
}

export interface AcpToolCallUpdate {
  toolCallId: string;
  kind: ToolKind;
  status: AcpStatus;
  locations?: AcpLocation[];
  content?: AcpContent[];
  rawOutput?: unknown;
}

export type AcpOptionKind = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';

export interface AcpPermissionOption {
  optionId: string;
  name: string;
  kind: AcpOptionKind;
}

export interface AcpPermissionRequest {
  sessionId: string;
  toolCall: AcpToolCall;
  options: AcpPermissionOption[];
}

export type AcpPermissionOutcome = { outcome: 'cancelled' } | { outcome: 'selected'; optionId: string };
