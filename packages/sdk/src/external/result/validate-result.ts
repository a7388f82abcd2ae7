/** Whether a parsed value is a result: what must be there is there, and every known field has its type. */
import { type JsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import { RUN_STATUSES, type RunResult } from '../../contracts/external.ts';
import { readShape } from '../protocol/read-shape.ts';
import { REQUIRED_FIELDS, RESULT_SHAPE } from '../protocol/result-shape.ts';
import { parseTimestamp } from '../protocol/timestamps.ts';

/**
 * A copy with unknown fields kept and absent ones as `result-shape.ts` says. Throws E_VALIDATION_FAIL; a required field
 * that is absent, null or blank has `details.reason` `missing_required_field` and `details.field`.
 */
export function validateResult(value: unknown): RunResult & JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid('Result is no JSON object', 'result', 'not_an_object');
  }
  const result = readShape(value as JsonObject, RESULT_SHAPE) as unknown as RunResult & JsonObject;
  for (const field of REQUIRED_FIELDS) {
    if (isBlank(fieldAt(result, field))) throw invalid('Required field is missing', field, 'missing_required_field');
  }
  checkTime(result.started_at, 'started_at');
  checkTime(result.completed_at, 'completed_at');
  if (!RUN_STATUSES.includes(result.status)) throw invalid('Status is none of the three', 'status', 'invalid_status');
  return result;
}

function fieldAt(result: JsonObject, field: string): JsonValue | undefined {
  return field.split('.').reduce<JsonValue | undefined>((value, name) => (value as JsonObject)[name], result);
}

function isBlank(value: JsonValue | undefined): boolean {
  return value === undefined || value === null || value === '' || value === 0;
}

function checkTime(text: string, field: string): void {
  try {
    parseTimestamp(text);
  } catch (thrown) {
    throw invalid('Timestamp is not valid', field, 'invalid_timestamp', thrown);
  }
}

function invalid(problem: string, field: string, reason: string, cause?: unknown): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `${problem}: ${field}`, {
    path: field,
    details: { reason, field },
    ...(cause === undefined ? {} : { cause }),
  });
}
