/** A result as it is before anything happened: every required field there, nothing claimed. */
import type { ExternalProfile, RunResult } from '../../contracts/external.ts';
import { PROTOCOL_VERSION, RESULT_SCHEMA_VERSION } from '../protocol/protocol-constants.ts';
import { formatTimestamp } from '../protocol/timestamps.ts';

const WRAPPER_NAMES: Readonly<Record<ExternalProfile, string>> = { neutral: 'tool-runtime', epack: 'epack' };

export type WrapperInfo = RunResult['wrapper'];
export type ToolInfo = RunResult['tool'];

export function newWrapperInfo(profile: ExternalProfile, version: string): WrapperInfo {
  return { name: WRAPPER_NAMES[profile], version };
}

export interface NewToolInfo {
  readonly name: string;
  readonly version: string;
  /** 0 or left out: the current one. */
  readonly protocolVersion?: number;
}

export function newToolInfo({ name, version, protocolVersion }: NewToolInfo): ToolInfo {
  return { name, version, protocol_version: protocolVersion || PROTOCOL_VERSION };
}

export interface NewResult {
  readonly wrapper: WrapperInfo;
  readonly tool: ToolInfo;
  readonly runId: string;
  readonly startedAtMs: number;
}

export function newResult({ wrapper, tool, runId, startedAtMs }: NewResult): RunResult {
  const startedAt = formatTimestamp(startedAtMs);
  return {
    schema_version: RESULT_SCHEMA_VERSION,
    wrapper,
    tool,
    run_id: runId,
    started_at: startedAt,
    completed_at: startedAt,
    duration_ms: 0,
    exit_code: 0,
    tool_exit_code: null,
    status: 'success',
    inputs: {},
    outputs: [],
    errors: [],
    warnings: [],
  };
}
