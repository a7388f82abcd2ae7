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

export const PUBLISHED: readonly PublishedPackage[] = [
  { folder: 'protocol', limits: { packedKiB: 230, unpackedKiB: 940, files: 320 } },
  { folder: 'sdk', limits: { packedKiB: 2300, unpackedKiB: 8600, files: 2840 } },
  {
    folder: 'ast',
    limits: { packedKiB: 2640, unpackedKiB: 5250, files: 1300 },
    ships: [/^languages\/[^/]+\/[^/]+\.(?:json|scm)$/, /^grammars\/[^/]+\.(?:wasm\.br|json|md)$/],
  },
  { folder: 'host', limits: { packedKiB: 2950, unpackedKiB: 11220, files: 1560 }, ships: [/^bin\/[^/]+\.js$/] },
  { folder: 'adapters', limits: { packedKiB: 74, unpackedKiB: 270, files: 125 } },
];

/** Entries that need an optional peer: without it they cannot be imported, all others can. */
export const PEER_OF_ENTRY: ReadonlyMap<string, string> = new Map([
  ['@tool-runtime/sdk/telemetry', '@opentelemetry/api'],
  ['@tool-runtime/adapters/ai-sdk', 'ai'],
  ['@tool-runtime/adapters/openai-agents', '@openai/agents'],
  ['@tool-runtime/adapters/anthropic', '@anthropic-ai/sdk'],
  ['@tool-runtime/adapters/langchain', '@langchain/core'],
  ['@tool-runtime/adapters/mastra', '@mastra/core'],
]);
