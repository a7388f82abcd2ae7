/** Seeded random lines: valid requests, requests with one thing wrong, mangled bytes, and plain noise. */

export type Random = () => number;

/** mulberry32: small, fast, and the same everywhere for one seed. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const TOOLS = ['file_read', 'file_write', 'file_reed', '', 'constructor', '__proto__', 'toString', 'a'.repeat(600)];
const PATHS: readonly string[] = [
  'a.txt',
  '../x',
  '/etc/passwd',
  '',
  'a\u0000b',
  '\ud800',
  '.git/config',
  'x/'.repeat(3000),
  'CON',
  '~',
  'no/such/file',
  'ünï',
];
const ODD_VALUES = [null, true, -1, 1e308, [], {}, [[[[]]]], '', 'x', { $ref: '#' }, { a: { b: { c: 1 } } }];

export function randomLine(random: Random, sessionId: string, index: number): string {
  const kind = Math.floor(random() * 6);
  if (kind === 0) return noise(random);
  const text = JSON.stringify(request(random, sessionId, index));
  if (kind === 1) return mangle(text, random);
  if (kind === 2) return duplicateKey(text, random);
  return text;
}

function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

function request(random: Random, sessionId: string, index: number): object {
  const message: Record<string, unknown> = {
    type: random() < 0.95 ? 'ToolRequest' : pick(random, ['Heartbeat', 'CancelRequest', 'Nope', 7]),
    tool: pick(random, TOOLS),
    args:
      random() < 0.8
        ? { path: pick(random, PATHS), ...(random() < 0.5 ? { content: 'x' } : {}) }
        : pick(random, ODD_VALUES),
    request_id: random() < 0.95 ? `r${index}` : pick(random, ODD_VALUES),
    session_id: random() < 0.95 ? sessionId : 'sess-other',
    timestamp: random() < 0.95 ? 1_730_822_400 : pick(random, ODD_VALUES),
  };
  if (random() < 0.1) message[pick(random, ['extra', 'idempotency_key', 'timeout_ms'])] = pick(random, ODD_VALUES);
  if (random() < 0.1) delete message[pick(random, Object.keys(message))];
  return message;
}

function mangle(text: string, random: Random): string {
  const at = Math.floor(random() * text.length);
  const edits = [
    text.slice(0, at),
    `${text.slice(0, at)}${String.fromCharCode(Math.floor(random() * 0x10000))}${text.slice(at)}`,
    `${text.slice(0, at)}${text.slice(at + 1)}`,
    `${text}${text}`,
    '['.repeat(Math.floor(random() * 5000)) + text,
    text.replace(/\d+/, '1e999'),
  ];
  return pick(random, edits);
}

function duplicateKey(text: string, random: Random): string {
  const twin = pick(random, ['"tool":"file_read"', '"t\\u006fol":"file_read"', '"__proto__":{}', '"args":{}']);
  return `{${twin},${text.slice(1)}`;
}

function noise(random: Random): string {
  const length = Math.floor(random() * 40);
  return Array.from({ length }, () => String.fromCharCode(Math.floor(random() * 256))).join('');
}
