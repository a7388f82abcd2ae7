/**
 * For what is made once, with the first who wants it: a failure is not kept, so that the next one tries again. Loading code
 * needs descriptors, and a host that ran out of them for a moment must not be without that code until it is restarted.
 */
export function forgetFailed<T>(making: Promise<T>, forget: (thrown: unknown) => void): Promise<T> {
  making.catch(forget);
  return making;
}
