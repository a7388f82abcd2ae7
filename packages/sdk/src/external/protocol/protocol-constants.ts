/** Numbers and words of the external tool protocol. Additions of our own are marked as such. */

export const PROTOCOL_VERSION = 1;
export const RESULT_SCHEMA_VERSION = 1;

const KIB = 1024;
const MIB = 1024 * KIB;

export const EXTERNAL_LIMITS = {
  resultBytes: 10 * MIB,
  capabilitiesBytes: 64 * KIB,
  capabilitiesMs: 5000,
  configBytes: MIB,
  lockBytes: 10 * MIB,
  lockTools: 1000,
  lockPlatforms: 100,
  /** Ours: a tool could list its files forever. */
  outputs: 1000,
  /** Ours: a sparse file has any size and takes as long to hash. */
  outputBytes: 1024 * MIB,
} as const;

/** What the wrapper exits with when the tool could not be run, or not as asked. */
export const WRAPPER_EXIT = {
  not_found: 10,
  digest_mismatch: 11,
  pack_verification: 12,
  lockfile: 13,
  run_failed: 14,
  config_write: 15,
  pack_required: 16,
  dependency_missing: 17,
} as const;
export type WrapperExit = keyof typeof WRAPPER_EXIT;

/** Codes of the entries the wrapper itself puts into a result. */
export const RUN_CODES = [
  'COMPONENT_NOT_FOUND',
  'VERIFICATION_FAILED',
  'PACK_VERIFICATION_FAILED',
  'PACK_REQUIRED',
  'COMPONENT_FAILED',
  'COMPONENT_KILLED',
  'RESULT_MISSING',
  'RESULT_INVALID',
  'INVALID_OUTPUT_PATH',
  'RUN_DIR_FAILED',
  'LOCKFILE_ERROR',
  'CONFIG_WRITE_FAILED',
  'NOT_IN_LOCKFILE',
  'PLATFORM_NOT_IN_LOCKFILE',
  'DIGEST_MISSING',
  'DEPENDENCY_MISSING',
] as const;
export type RunCode = (typeof RUN_CODES)[number];

/** The file a run ends in, and where the tool's own goes when it is not the final word. */
export const RESULT_FILE = 'result.json';
