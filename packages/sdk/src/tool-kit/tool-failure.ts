/** How a tool ends a run that cannot succeed, with the exit code and the entry that `result.json` shall show. */
import type { Json } from './json.ts';

export class ToolFailure extends Error {
  readonly exitCode: number;
  readonly code: string;
  readonly details: Json | undefined;

  /** `exitCode`: 1 general, 2 configuration, 3 authentication, 4 network, 5 to 9 the tool's own meaning. */
  constructor(exitCode: number, code: string, message: string, details?: Json) {
    if (!Number.isInteger(exitCode) || exitCode < 1 || exitCode > 9)
      throw new RangeError(`A tool fails with an exit code from 1 to 9, the rest is the wrapper's: ${exitCode}`);
    super(message);
    this.name = 'ToolFailure';
    this.exitCode = exitCode;
    this.code = code;
    this.details = details;
  }
}
