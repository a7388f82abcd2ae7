/** Something that did not hold, and what to call it: one mistake met by a thousand inputs is one finding. */

export interface FuzzFinding {
  readonly kind: 'broken' | 'hang' | 'crash' | 'slow';
  /** Equal for inputs that fail in the same way. */
  readonly signature: string;
  readonly message: string;
  readonly input: Uint8Array;
}

const SIGNATURE_LENGTH = 160;

export function findingOf(thrown: unknown, input: Buffer): FuzzFinding {
  const error = thrown instanceof Error ? thrown : new TypeError(String(thrown));
  const stack = error.stack ?? error.message;
  return { kind: 'broken', signature: signatureOf(error), message: stack, input };
}

/** The kind of error, its message up to the first colon (what follows comes from the input), and where it was thrown. */
export function signatureOf(thrown: unknown): string {
  const error = thrown instanceof Error ? thrown : new TypeError(String(thrown));
  const [words = '', cause = ''] = error.message.split('\n', 1)[0]?.split(':') ?? [];
  const place = /(?:packages|scripts)\/\S+?:\d+/.exec(error.stack?.split('\n    at ').slice(1).join('\n') ?? '')?.[0];
  // What was thrown instead of a refusal is the cause, and its name tells causes apart.
  const kind = words.startsWith('not a') ? `${words}:${cause}` : words;
  const plain = kind.replace(/"(?:[^"\\]|\\.)*"|'[^']*'|\d+/g, '…').slice(0, SIGNATURE_LENGTH);
  return `${error.name}: ${plain} at ${place ?? 'an unknown place'}`;
}
