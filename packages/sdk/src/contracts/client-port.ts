/**
 * Questions a running tool may ask its caller: a form to fill in, a page to visit, a model to ask.
 *
 * Not an approval: the answer goes to the tool and decides nothing about policy. Callers that cannot be asked are the
 * rule, so a tool must know what to do without an answer.
 */
import type { JsonObject } from '@tool-runtime/protocol';

export interface ClientQuestion {
  /** What is asked, in the words of MCP: `elicitation/create`, `sampling/createMessage`, `roots/list`. */
  readonly method: string;
  readonly params?: JsonObject;
}

/** The raw answer; an elicitation that was declined is an answer too. */
export type ClientAnswer = JsonObject;

/** Asks several things at once; answers come under the same names. Rejects when the caller cannot be asked. */
export type AskClient = (
  questions: Readonly<Record<string, ClientQuestion>>,
) => Promise<Readonly<Record<string, ClientAnswer>>>;
