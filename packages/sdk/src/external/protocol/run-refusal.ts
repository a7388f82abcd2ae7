/** Why the wrapper does not run a tool: one error that carries the protocol's code and exit code with it. */
import { type ErrorCode, type JsonObject, ToolError } from '@tool-runtime/protocol';
import { type RunCode, WRAPPER_EXIT, type WrapperExit } from './protocol-constants.ts';

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

export interface Refusal {
  readonly message: string;
  readonly reason: string;
  readonly next: string;
  readonly details?: JsonObject;
  readonly cause?: unknown;
}

export function runRefusal(code: RefusalCode, { message, reason, next, details, cause }: Refusal): ToolError {
  const { exit, error } = KINDS[code];
  return new ToolError(error, message, {
    details: { run_code: code, exit_code: WRAPPER_EXIT[exit], reason, next, ...details },
    ...(cause === undefined ? {} : { cause }),
  });
}
