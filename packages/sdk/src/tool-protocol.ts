/**
 * The plain functions of the tool protocol (`@tool-runtime/sdk/tool-protocol`): status, exit codes, digests, run ids,
 * timestamps, results and capabilities, as the runtime itself computes them.
 *
 * For programs that check, build or read runs of external tools. A tool itself needs only the kit.
 */
export {
  RUN_STATUSES,
  type RunEntry,
  type RunOutput,
  type RunResult,
  type RunStatus,
  type ToolCapabilities,
} from './contracts/external.ts';
export { checkDigest, formatTimestamp, parseTimestamp, sameDigest } from './external/protocol/digests.ts';
export { parseCapabilities } from './external/protocol/probe-capabilities.ts';
export {
  PROTOCOL_VERSION,
  RESULT_SCHEMA_VERSION,
  RUN_CODES,
  WRAPPER_EXIT,
} from './external/protocol/protocol-constants.ts';
export { parseResult, validateResult } from './external/protocol/read-result.ts';
export { checkToolName, createRunIds, type RunIds } from './external/protocol/run-ids.ts';
export { computeStatus, normalizeExitCode, type RunFindings } from './external/protocol/run-status.ts';
export { newResult, newToolInfo, newWrapperInfo, resultText, runDigest } from './external/result/new-result.ts';
export { digest } from './platform/digest.ts';
export { fileDigest } from './platform/runs/output-path.ts';
