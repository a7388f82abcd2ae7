/** An answer as a person at a terminal reads it: the text a model reads, with warnings apart. */
import type { ToolResponse } from '@tool-runtime/protocol';
import { safeLines } from '@tool-runtime/protocol/internal';
import type { PresentedCall, Session } from '@tool-runtime/sdk';

export interface ShownAnswer {
  /** No control character in it reaches the terminal. */
  readonly text: string;
  readonly warnings: readonly string[];
}

export function showAnswer(session: Session, call: PresentedCall, response: ToolResponse): ShownAnswer {
  const textOf = (shown: ToolResponse): string => safeLines(session.present(call, shown).text);
  return {
    text: textOf({ ...response, warnings: [] }),
    warnings: response.warnings.map((warning) => textOf({ ...response, ok: false, errors: [warning], warnings: [] })),
  };
}
