/** The packages we publish: how large each may become, and what it ships in addition to its code. */

/** About a fifth above what they are; growth beyond that is a decision, taken here. */
export interface SizeLimits {
  readonly packedKiB: number;
  readonly unpackedKiB: number;
  readonly files: number;
}

export interface PublishedPackage {
  /** Folder under packages/, equal to the name after the scope. */
  readonly folder: string;
  readonly limits: SizeLimits;
  /** Files other than dist, src, manifest, readme and licence. */
  readonly ships?: readonly RegExp[];
}

/** The command, and the pages of the console as browsers get them. */
const HOST_SHIPS = [/^bin\/[^/]+\.js$/, /^dist\/console\/(?:[\w-]+\.(?:html|css|svg)|THIRD-PARTY-LICENSES)$/];

export const PUBLISHED: readonly PublishedPackage[] = [
  { folder: 'protocol', limits: { packedKiB: 230, unpackedKiB: 980, files: 320 } },
  { folder: 'sdk', limits: { packedKiB: 2560, unpackedKiB: 9600, files: 2840 } },
  {
    folder: 'ast',
    limits: { packedKiB: 2640, unpackedKiB: 5250, files: 1300 },
    ships: [/^languages\/[^/]+\/[^/]+\.(?:json|scm)$/, /^grammars\/[^/]+\.(?:wasm\.br|json|md)$/],
  },
  { folder: 'fleet', limits: { packedKiB: 240, unpackedKiB: 960, files: 120 } },
  { folder: 'host', limits: { packedKiB: 3250, unpackedKiB: 12000, files: 1640 }, ships: HOST_SHIPS },
  { folder: 'adapters', limits: { packedKiB: 74, unpackedKiB: 270, files: 125 } },
  { folder: 'conformance', limits: { packedKiB: 165, unpackedKiB: 640, files: 160 }, ships: [/^bin\/[^/]+\.js$/] },
];

/** Optional peers that no entry needs: they are loaded when an option or a command asks for them. */
export const PEERS_ON_DEMAND: readonly string[] = ['@tool-runtime/fleet'];

/** Entries that need an optional peer: without it they cannot be imported, all others can. */
export const PEER_OF_ENTRY: ReadonlyMap<string, string> = new Map([
  ['@tool-runtime/sdk/telemetry', '@opentelemetry/api'],
  ['@tool-runtime/adapters/ai-sdk', 'ai'],
  ['@tool-runtime/adapters/openai-agents', '@openai/agents'],
  ['@tool-runtime/adapters/anthropic', '@anthropic-ai/sdk'],
  ['@tool-runtime/adapters/langchain', '@langchain/core'],
  ['@tool-runtime/adapters/mastra', '@mastra/core'],
]);
