/** A timer that does not keep a Node process alive: what it does matters only while something else goes on. */
export type IdleTimer = ReturnType<typeof setTimeout>;

export function idleTimer(callback: () => void, milliseconds: number): IdleTimer {
  const timer = setTimeout(callback, milliseconds);
  // Browsers give a number, which has nothing to switch off.
  (timer as unknown as { unref?: () => void }).unref?.();
  return timer;
}
