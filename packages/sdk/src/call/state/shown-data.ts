/** The data of an answer as callers get it and records keep it. */
import type { JsonValue } from '@tool-runtime/protocol';
import type { RecordedCall } from './call-types.ts';
import type { SessionParts } from './session-parts.ts';

/** Contents of files are passed on as they are: what was changed in them would be written back one day. */
export function shownData(
  { compiled }: Pick<RecordedCall, 'compiled'>,
  data: JsonValue,
  parts: SessionParts,
): JsonValue {
  return compiled.tool.answersWithContents === true ? data : parts.redactor.known.json(data);
}
