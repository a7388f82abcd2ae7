/**
 * `@tool-runtime/protocol/internal`: small parts that the packages of this project share, without the schemas. Loads in a
 * moment. Not for programs outside of this project: it changes without notice.
 */
export { describeError } from './primitives/describe-error.ts';
export { withClass } from './primitives/error-class.ts';
export { type ErrorCode, isToolError, type JsonObject, type JsonValue, ToolError } from './primitives/errors.ts';
export { once } from './primitives/once.ts';
export { safeLines, safeText } from './primitives/safe-text.ts';
export {
  DEFAULT_MAX_BYTES,
  DEFAULT_MAX_DEPTH,
  type ScanFault,
  type ScanLimits,
  scanJson,
} from './primitives/scan-json.ts';
export { isPrintableId, MAX_ID_BYTES } from './primitives/text-limits.ts';
