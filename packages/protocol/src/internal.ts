/**
 * `@tool-runtime/protocol/internal`: small parts that the packages of this project share, without the schemas. Loads in a
 * moment. Not for programs outside of this project: it changes without notice.
 */
export { ROW_FIELDS, type Row, type RowField, type RowTest, rowTest } from './http/row-filter.ts';
export { describeIssues } from './primitives/describe-issues.ts';
export {
  describeError,
  ERROR_CODES,
  type ErrorCode,
  isToolError,
  type JsonObject,
  type JsonValue,
  ToolError,
  toToolError,
  withClass,
} from './primitives/errors.ts';
export { isJsonObject, isJsonValue } from './primitives/is-json.ts';
export { once } from './primitives/once.ts';
export {
  isPrintableId,
  MAX_ID_BYTES,
  MAX_PLAN_NOTE_LENGTH,
  MAX_PLAN_STEPS,
  safeLine,
  safeLines,
  safeText,
  utf8Length,
} from './primitives/safe-text.ts';
export {
  DEFAULT_MAX_BYTES,
  DEFAULT_MAX_DEPTH,
  type ScanFault,
  type ScanLimits,
  scanJson,
} from './primitives/scan-json.ts';
