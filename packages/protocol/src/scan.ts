/** `@tool-runtime/protocol/scan`: the checks of texts before they are parsed, without the schemas. Loads in a moment. */
export { type ErrorCode, isToolError, type JsonObject, type JsonValue, ToolError } from './primitives/errors.ts';
export { isPrintableId, MAX_ID_BYTES } from './primitives/printable-id.ts';
export {
  DEFAULT_MAX_BYTES,
  DEFAULT_MAX_DEPTH,
  type ScanFault,
  type ScanLimits,
  scanJson,
} from './primitives/scan-json.ts';
