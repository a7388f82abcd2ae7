/** Waiting in tests: never for a time, always for a thing; a guard turns a hang into a message. */

const GUARD_MS = 60_000;

export function within<T>(promise: Promise<T>, what: () => string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const guard = setTimeout(() => reject(new TypeError(`Waited in vain: ${what()}`)), GUARD_MS).unref();
  return Promise.race([promise, late]).finally(() => clearTimeout(guard));
}

/** Looks again and again until `look` finds something. */
export async function eventually<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  what: string,
): Promise<T> {
  const deadline = performance.now() + GUARD_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new TypeError(`Waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
