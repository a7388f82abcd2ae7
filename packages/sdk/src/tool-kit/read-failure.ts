/** Whatever was thrown, as exit code and entry for the result. */
import type { Json } from './json.ts';
import { ToolFailure } from './tool-failure.ts';

export interface Failure {
  readonly exitCode: number;
  readonly code: string;
  readonly message: string;
  readonly details: Json | undefined;
}

export function readFailure(thrown: unknown): Failure {
  if (thrown instanceof ToolFailure) {
    const { exitCode, code, message, details } = thrown;
    return { exitCode, code, message, details };
  }
  const message = thrown instanceof Error ? thrown.message || thrown.name : String(thrown);
  return { exitCode: 1, code: 'UNEXPECTED_ERROR', message, details: undefined };
}
