/** Every id is a bounded, printable string; a bad one is refused where it enters, not where it hurts. */
import { isPrintableId, MAX_ID_BYTES, ToolError, utf8Length } from '@tool-runtime/protocol';
import { contractViolation, missingField } from './failures.ts';

declare const brand: unique symbol;
/** A string that passed `checkId`, tagged with what it identifies. */
export type Id<Name extends string> = string & { readonly [brand]?: Name };

export type ToolCallId = Id<'tool_call'>;
export type EffectId = Id<'effect'>;
export type CapabilityId = Id<'capability'>;
export type ExecutorRef = Id<'executor'>;
export type CanonicalToolName = Id<'tool_name'>;

/** Returns the value unchanged, or throws naming the field. The value itself stays out of the message. */
export function checkId<T extends string>(value: T, field: string): T {
  if (typeof value !== 'string' || value.length === 0) throw missingField(field);
  if (isPrintableId(value)) return value;
  if (utf8Length(value) > MAX_ID_BYTES) {
    throw contractViolation(`Id is longer than ${MAX_ID_BYTES} bytes: ${field}`, { field, reason: 'invalid_fields' });
  }
  throw contractViolation(`Id has control characters: ${field}`, { field, reason: 'invalid_fields' });
}

/** The name of a tool as a request gives it; whether there is one is another question. */
export function checkToolName(name: string, path: string): void {
  if (typeof name === 'string' && isPrintableId(name)) return;
  throw new ToolError('E_VALIDATION_FAIL', `Tool name must be 1 to ${MAX_ID_BYTES} printable bytes: ${path}`, {
    path,
    details: { gate: 'session', reason: 'invalid_fields', next: 'use the name of a tool that session.tools() lists' },
  });
}

/** How an id appears in debug output: what it is, never its value. */
export function redactedId(name: string): string {
  return `[${name}]`;
}
