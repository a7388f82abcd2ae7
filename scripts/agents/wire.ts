/** How an agent asks its model, as far as a scripted model needs it: which tools it offers, what it shows, what it is told. */

export type Json = Readonly<Record<string, unknown>>;

export interface ScriptedCall {
  readonly tool: string;
  readonly args: Json;
}

/** A request to the model. */
export interface Asked {
  /** Names of the tools on offer, as the agent writes them; empty for requests beside the conversation. */
  readonly tools: readonly string[];
  /** What the model is shown of each answer so far, oldest first. */
  readonly shown: readonly unknown[];
}

export interface Wire {
  /** Paths of requests end with one of these. */
  readonly paths: RegExp;
  read(body: Json): Asked;
  /** Events of the answer: a call of the named tool, or, without one, the end of the turn. */
  answer(body: Json, turn: number, call: ScriptedCall | undefined): readonly (Json | string)[];
}

export function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}
