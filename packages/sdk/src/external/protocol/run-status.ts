/**
 * The status of a run, decided by what was reported and how the program ended, never by what the tool claims; and
 * refusals.
 */

import { type ErrorCode, type JsonObject, ToolError } from '@tool-runtime/protocol';
import type { RunEntry, RunStatus } from '../../contracts/external.ts';
import { contractViolation } from '../../contracts/failures.ts';
import { type RunCode, WRAPPER_EXIT, type WrapperExit } from './protocol-constants.ts';

export interface RunFindings {
  readonly errors: readonly RunEntry[];
  readonly warnings: readonly RunEntry[];
  readonly exitCode: number;
}

/** Errors or a non-zero exit: failure; else warnings: partial; else success. */
export function computeStatus({ errors, warnings, exitCode }: RunFindings): RunStatus {
  if (errors.length > 0 || exitCode !== 0) return 'failure';
  return warnings.length > 0 ? 'partial' : 'success';
}

/** 0–9 belong to tools. Anything else becomes 1, because 10–19 would read as the wrapper's own. */
export function normalizeExitCode(code: number): { readonly exitCode: number; readonly toolExitCode: number } {
  const isTools = Number.isInteger(code) && code >= 0 && code <= 9;
  return { exitCode: isTools ? code : 1, toolExitCode: code };
}

/** A run ends once: it goes from `created` to one of three ends and stays there. */
export const RUN_STATES = ['created', 'exec_failed', 'tool_result_valid', 'backfilled'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** Returns the new state; throws E_VALIDATION_FAIL for a step that does not exist. */
export function nextRunState(current: RunState, next: RunState): RunState {
  const isStep = current === 'created' ? next !== 'created' : next === current;
  if (isStep) return next;
  throw contractViolation(`Run cannot change its state: ${current} to ${next}`, { from: current, to: next });
}

interface Kind {
  readonly exit: WrapperExit;
  readonly error: ErrorCode;
}

const KINDS = {
  COMPONENT_NOT_FOUND: { exit: 'not_found', error: 'E_SHELL' },
  VERIFICATION_FAILED: { exit: 'digest_mismatch', error: 'E_POLICY' },
  DIGEST_MISSING: { exit: 'lockfile', error: 'E_POLICY' },
  LOCKFILE_ERROR: { exit: 'lockfile', error: 'E_POLICY' },
  NOT_IN_LOCKFILE: { exit: 'lockfile', error: 'E_POLICY' },
  PLATFORM_NOT_IN_LOCKFILE: { exit: 'lockfile', error: 'E_POLICY' },
  PACK_VERIFICATION_FAILED: { exit: 'pack_verification', error: 'E_VALIDATION_FAIL' },
  PACK_REQUIRED: { exit: 'pack_required', error: 'E_VALIDATION_FAIL' },
  DEPENDENCY_MISSING: { exit: 'dependency_missing', error: 'E_VALIDATION_FAIL' },
  CONFIG_WRITE_FAILED: { exit: 'config_write', error: 'E_VALIDATION_FAIL' },
  COMPONENT_FAILED: { exit: 'run_failed', error: 'E_POLICY' },
  RUN_DIR_FAILED: { exit: 'run_failed', error: 'E_FILE_IO' },
} as const satisfies Partial<Record<RunCode, Kind>>;

export type RefusalCode = keyof typeof KINDS;

interface Refusal {
  readonly message: string;
  readonly reason: string;
  readonly next: string;
  readonly details?: JsonObject;
  readonly cause?: unknown;
}

/** Why the wrapper does not run a tool: one error that carries the protocol's code and exit code with it. */
export function runRefusal(code: RefusalCode, { message, reason, next, details, cause }: Refusal): ToolError {
  const { exit, error } = KINDS[code];
  return new ToolError(error, message, {
    details: { run_code: code, exit_code: WRAPPER_EXIT[exit], reason, next, ...details },
    ...(cause === undefined ? {} : { cause }),
  });
}
