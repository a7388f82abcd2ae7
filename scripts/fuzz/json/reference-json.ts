/**
 * A slow second reading of a JSON text, to compare the quick one with: `JSON.parse` says whether it is JSON, and a walk
 * over its tokens what `JSON.parse` passes over in silence.
 */

export interface JsonFacts {
  readonly value: unknown;
  /** Containers inside each other. */
  readonly depth: number;
  readonly hasDoubledKey: boolean;
  readonly hasPrototypeKey: boolean;
  /** Keys of the outermost object, as often as they occur. */
  readonly outerKeys: readonly string[];
  readonly hasHugeNumber: boolean;
  /** No text in it, keys included, holds half of a surrogate pair. */
  readonly isWellFormed: boolean;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:]|-?\d[\d.eE+-]*/gs;

/** Undefined for what is no JSON. */
export function readJsonFacts(text: string): JsonFacts | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const tokens = Array.from(text.matchAll(TOKEN), ([token]) => token);
  const open: Set<string>[] = [];
  const outerKeys: string[] = [];
  const facts = {
    value,
    outerKeys,
    depth: 0,
    hasDoubledKey: false,
    hasPrototypeKey: false,
    hasHugeNumber: false,
    isWellFormed: true,
  };
  for (const [index, token] of tokens.entries()) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (token.startsWith('"')) {
      const string = JSON.parse(token) as string;
      facts.isWellFormed &&= string.isWellFormed();
      if (tokens[index + 1] !== ':') continue;
      const keys = open.at(-1);
      facts.hasDoubledKey ||= keys?.has(string) === true;
      facts.hasPrototypeKey ||= string === '__proto__';
      keys?.add(string);
      if (open.length === 1) outerKeys.push(string);
    } else if (token !== ':') facts.hasHugeNumber ||= !Number.isFinite(Number(token));
    facts.depth = Math.max(facts.depth, open.length);
  }
  return facts;
}

/** What the protocol takes: plain JSON that every reader understands in the same way. */
export function isPlainJson(facts: JsonFacts | undefined, maxDepth: number): facts is JsonFacts {
  if (facts === undefined || facts.hasDoubledKey || facts.hasPrototypeKey) return false;
  return !facts.hasHugeNumber && facts.depth <= maxDepth;
}
