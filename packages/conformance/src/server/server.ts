/** What a case sees of a server, whatever protocol it speaks. */
import type { Json } from '../profile/fill-template.ts';
import type { Profile } from '../profile/profile.ts';
import type { LineProcess, Message, ProcessSettings } from './line-process.ts';

export type Protocol = 'mcp' | 'envelopes';

export interface Request {
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
  /** Idempotency key, where the profile says how to send one. */
  readonly key?: string;
}

export interface Reply {
  /** The server says that it did what was asked. */
  readonly ok: boolean;
  /** The whole answer, as it came. */
  readonly message: Message;
}

export interface Call {
  readonly reply: Promise<Reply>;
  cancel(): void;
}

export interface Server {
  readonly process: LineProcess;
  /** Names of its tools; empty where the protocol has no list. */
  readonly tools: readonly string[];
  start(request: Request): Call;
}

export type StartServer = (settings: ProcessSettings, profile: Pick<Profile, 'idempotency'>) => Promise<Server>;

/** Generous: a busy machine must not turn a slow answer into a finding. */
export const ANSWER_MS = 60_000;
