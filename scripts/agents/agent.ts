/** A coding agent as its users install it, and how it is pointed at a model on loopback. */
import type { Wire } from './wire.ts';

export interface Agent {
  /** As `tool-runtime mcp install` knows it. */
  readonly client: string;
  /** On npm. */
  readonly package: string;
  readonly program: string;
  /** How it talks to its model. */
  readonly wire: Wire;
  /** Writes what it needs beside the entry of `mcp install`, and says how it is started with one prompt. */
  prepare(place: AgentPlace): { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> };
}

export interface AgentPlace {
  readonly home: string;
  readonly workspace: string;
  /** Of the scripted model, without a slash at the end. */
  readonly url: string;
}
