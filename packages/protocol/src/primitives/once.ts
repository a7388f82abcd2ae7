/**
 * Something that is made once, by the first call that needs it, such as code that is loaded on demand.
 *
 * A failure is not kept: a host that ran out of descriptors for a moment must not be without that code until it restarts.
 */
export interface Once<T> {
  (): Promise<T>;
  /** What a call has made or is making, or undefined. Makes nothing itself. */
  ifMade(): Promise<T> | undefined;
}

export function once<T>(make: () => Promise<T>): Once<T> {
  let making: Promise<T> | undefined;
  const get = (): Promise<T> => {
    making ??= make().catch((thrown: unknown) => {
      making = undefined;
      throw thrown;
    });
    return making;
  };
  return Object.assign(get, { ifMade: () => making });
}
