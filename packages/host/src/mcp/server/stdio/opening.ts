/**
 * The opening of a connection, answered before the SDK is loaded: loading takes longer than everything else, and clients
 * start servers they never use. When the SDK comes later it is told what was agreed.
 */
import type { ClientIdentity } from '../mcp-backend.ts';
import { CAPABILITIES, INSTRUCTIONS, LIST_HINT, serverInfo } from '../server-definition.ts';
import { DISCOVER, MODERN_VERSION, readEnvelope, SERVER_INFO_KEY } from './family.ts';
import { arePlainAbilities, readClientInfo } from './plain-client.ts';
import { hasOnly, type PlainMessage } from './plain-message.ts';

/** Newest first: whoever asks for another one is offered that. */
const VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];
const PARAMS: ReadonlySet<string> = new Set(['protocolVersion', 'capabilities', 'clientInfo']);
const META_ONLY: ReadonlySet<string> = new Set(['_meta']);

export interface Opened {
  readonly result: object;
  /** Who opened; undefined when it only looked around. */
  readonly client?: ClientIdentity;
}

/** Undefined when it is no opening, or none of the usual form. */
export function answerOpening(message: PlainMessage, serverVersion: string): Opened | undefined {
  if (message.id === undefined) return undefined;
  if (message.method === 'initialize') return initialize(message, serverVersion);
  return message.method === DISCOVER ? discover(message, serverVersion) : undefined;
}

function initialize({ params }: PlainMessage, serverVersion: string): Opened | undefined {
  if (params === undefined || !hasOnly(params, PARAMS)) return undefined;
  const { protocolVersion, capabilities, clientInfo } = params;
  const client = readClientInfo(clientInfo);
  if (typeof protocolVersion !== 'string' || !arePlainAbilities(capabilities) || client === undefined) return undefined;
  const result = {
    protocolVersion: VERSIONS.includes(protocolVersion) ? protocolVersion : VERSIONS[0],
    capabilities: CAPABILITIES,
    serverInfo: serverInfo(serverVersion),
    instructions: INSTRUCTIONS,
  };
  return { result, client };
}

function discover({ params }: PlainMessage, serverVersion: string): Opened | undefined {
  if (params === undefined || !hasOnly(params, META_ONLY) || readEnvelope(params) === undefined) return undefined;
  const result = {
    supportedVersions: [MODERN_VERSION],
    capabilities: CAPABILITIES,
    instructions: INSTRUCTIONS,
    ...stampsOf({ serverVersion }),
    ...LIST_HINT,
  };
  return { result };
}

/** What every result of 2026 carries. */
export function stampsOf({ serverVersion, meta }: { serverVersion: string; meta?: object | undefined }) {
  return { resultType: 'complete', _meta: { ...meta, [SERVER_INFO_KEY]: serverInfo(serverVersion) } };
}
