/**
 * Something that is made once, by the first call that needs it, such as code that is loaded on demand.
 *
 * A failure is not kept: a host that ran out of descriptors for a moment must not be without that code until it restarts.
 */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let making: Promise<T> | undefined;
  return () => {
    making ??= make().catch((thrown: unknown) => {
      making = undefined;
      throw thrown;
    });
    return making;
  };
}
