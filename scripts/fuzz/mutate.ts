/** Small changes of bytes: each keeps most of an input, so that what was right about it mostly stays so. */
import { below, pick, type Random } from './seeded-random.ts';

export interface MutationSource {
  readonly random: Random;
  readonly tokens: readonly Buffer[];
  /** Another input to take pieces from. */
  other(): Buffer;
}

type Mutation = (bytes: Buffer, source: MutationSource) => Buffer;

const MAX_CHANGES = 5;
const NUMBERS = ['0', '-1', '1', '255', '256', '65535', '65536', '2147483647', '2147483648', '4294967296'].concat(
  '9007199254740993',
  '1e400',
  '0.1',
  '00',
);
const ODD_BYTES = [0, 9, 10, 13, 32, 34, 39, 47, 92, 123, 125, 127, 128, 192, 239, 255];

const MUTATIONS: readonly Mutation[] = [
  (bytes, { random }) => {
    const changed = Buffer.from(bytes);
    const at = below(random, bytes.length);
    changed[at] = (changed[at] ?? 0) ^ (1 << below(random, 8));
    return changed;
  },
  (bytes, { random }) => replaced(bytes, range(bytes, random, 1), Buffer.from([pick(random, ODD_BYTES)])),
  (bytes, { random }) => replaced(bytes, range(bytes, random, 16), Buffer.alloc(0)),
  (bytes, { random }) => replaced(bytes, range(bytes, random, bytes.length), Buffer.alloc(0)),
  (bytes, { random, tokens }) => replaced(bytes, place(bytes, random), token(tokens, random)),
  (bytes, { random, tokens }) => replaced(bytes, range(bytes, random, 12), token(tokens, random)),
  (bytes, { random }) => replaced(bytes, place(bytes, random), slice(bytes, random)),
  (bytes, { random, other }) => replaced(bytes, place(bytes, random), slice(other(), random)),
  (bytes, { random, other }) => replaced(bytes, range(bytes, random, 64), slice(other(), random)),
  (bytes, { random, other }) => Buffer.concat([bytes.subarray(0, below(random, bytes.length)), slice(other(), random)]),
  (bytes, { random }) => {
    const [start, end] = range(bytes, random, 24);
    const times = 2 + below(random, 1 << below(random, 10));
    return replaced(
      bytes,
      [start, start],
      Buffer.concat(Array.from({ length: times }, () => bytes.subarray(start, end))),
    );
  },
  (bytes, { random }) => replaced(bytes, place(bytes, random), noise(random)),
  (bytes, { random }) => changeNumber(bytes, random),
  (bytes, { random }) => changeLines(bytes, random),
];

export function mutate(input: Buffer, source: MutationSource): Buffer {
  const { random } = source;
  let bytes = input.length === 0 ? token(source.tokens, random) : input;
  for (let changes = 1 + below(random, MAX_CHANGES); changes > 0 && bytes.length > 0; changes--) {
    bytes = pick(random, MUTATIONS)(bytes, source);
  }
  return bytes;
}

type Range = readonly [start: number, end: number];

function place(bytes: Buffer, random: Random): Range {
  const at = below(random, bytes.length + 1);
  return [at, at];
}

function range(bytes: Buffer, random: Random, longest: number): Range {
  const start = below(random, bytes.length);
  return [start, Math.min(bytes.length, start + 1 + below(random, Math.max(1, longest)))];
}

function slice(bytes: Buffer, random: Random): Buffer {
  return bytes.length === 0 ? bytes : bytes.subarray(...range(bytes, random, random() < 0.5 ? 16 : bytes.length));
}

function replaced(bytes: Buffer, [start, end]: Range, by: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, start), by, bytes.subarray(end)]);
}

function token(tokens: readonly Buffer[], random: Random): Buffer {
  return tokens.length === 0 ? noise(random) : pick(random, tokens);
}

function noise(random: Random): Buffer {
  const text = random() < 0.5;
  return Buffer.from(
    Array.from({ length: 1 + below(random, 8) }, () => (text ? 32 + below(random, 95) : below(random, 256))),
  );
}

function changeNumber(bytes: Buffer, random: Random): Buffer {
  const found = [...bytes.toString('latin1').matchAll(/\d+/g)];
  if (found.length === 0) return bytes;
  const { index, 0: digits } = pick(random, found);
  const near = String(Math.max(0, Number(digits) + below(random, 3) - 1));
  const by = random() < 0.5 ? near : pick(random, NUMBERS);
  return replaced(bytes, [index, index + digits.length], Buffer.from(by));
}

/** Swaps, doubles or removes whole lines. */
function changeLines(bytes: Buffer, random: Random): Buffer {
  const lines = bytes.toString('latin1').split('\n');
  const [one, other] = [below(random, lines.length), below(random, lines.length)];
  const line = lines[one] ?? '';
  const kind = below(random, 3);
  if (kind === 0) lines.splice(one, 1);
  else if (kind === 1) lines.splice(other, 0, line);
  else {
    lines[one] = lines[other] ?? '';
    lines[other] = line;
  }
  return Buffer.from(lines.join('\n'), 'latin1');
}
