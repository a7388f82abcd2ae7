/**
 * Which family of the protocol a connection speaks, and whose request it is. 2025: agreed once, at the opening. 2026:
 * every request says it. The SDK settles on a family with the first message that is not just a look around; here the
 * same is worked out, so that answers from both sides fit together.
 */
import type { ClientIdentity } from '../mcp-backend.ts';
import { arePlainAbilities, readClientInfo } from './plain-client.ts';
import { isPlainObject, type PlainMessage, type PlainObject } from './plain-message.ts';

export const MODERN_VERSION = '2026-07-28';
export const DISCOVER = 'server/discover';

const RESERVED = 'io.modelcontextprotocol/';
export const SERVER_INFO_KEY = `${RESERVED}serverInfo`;
const VERSION_KEY = `${RESERVED}protocolVersion`;
const INFO_KEY = `${RESERVED}clientInfo`;
const ABILITIES_KEY = `${RESERVED}clientCapabilities`;
const ENVELOPE: ReadonlySet<string> = new Set([VERSION_KEY, INFO_KEY, ABILITIES_KEY]);

export interface Caller {
  readonly isModern: boolean;
  readonly client: ClientIdentity;
}

const UNNAMED: ClientIdentity = { name: 'mcp client' };

export class Family {
  #settled: '2025' | '2026' | undefined;
  #connected: Caller | undefined;
  /** Calls may have log messages to send, which is the SDK's business. */
  #wantsLog = false;

  /** The opening of 2025 is through. */
  connect(client: ClientIdentity): void {
    this.#settled = '2025';
    this.#connected = { isModern: false, client };
  }

  /** A message goes to the SDK, which settles on a family by the first one. */
  handOver(message: PlainMessage | undefined): void {
    if (message?.method === 'logging/setLevel') this.#wantsLog = true;
    if (this.#settled !== undefined) return;
    const isModern = message !== undefined && readEnvelope(message.params) !== undefined;
    if (isModern && (message.id === undefined || message.method === DISCOVER)) return;
    this.#settled = isModern ? '2026' : '2025';
  }

  get isSettled(): boolean {
    return this.#settled !== undefined;
  }

  /** Undefined when it is not plain who calls in which family. */
  callerOf({ params }: PlainMessage): Caller | undefined {
    if (this.#settled === '2026') return readEnvelope(params);
    if (this.#settled === undefined || this.#wantsLog) return undefined;
    return isUnreserved(params?.['_meta']) ? this.#connected : undefined;
  }
}

/** The caller of a request of 2026, when everything it has to say of itself is there in the usual form. */
export function readEnvelope(params: PlainObject | undefined): Caller | undefined {
  const meta = params?.['_meta'];
  if (!isPlainObject(meta) || meta[VERSION_KEY] !== MODERN_VERSION || !arePlainAbilities(meta[ABILITIES_KEY])) return;
  for (const key in meta) if (key.startsWith(RESERVED) && !ENVELOPE.has(key)) return;
  const client = meta[INFO_KEY] === undefined ? UNNAMED : readClientInfo(meta[INFO_KEY]);
  return client === undefined ? undefined : { isModern: true, client };
}

function isUnreserved(meta: unknown): boolean {
  if (meta === undefined) return true;
  if (!isPlainObject(meta)) return false;
  for (const key in meta) if (key.startsWith(RESERVED)) return false;
  return true;
}
