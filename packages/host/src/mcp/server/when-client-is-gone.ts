/**
 * Clients die without saying goodbye, and hundreds of forgotten servers are what their users then find. Gone means: the
 * input ended, a signal came, or the parent is another one than at the start.
 */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const LOOK_EVERY_MS = 2000;

export async function whenClientIsGone(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const parent = process.ppid;
  const gone = (): void => resolve();
  const look = setInterval(() => {
    if (process.ppid !== parent) gone();
  }, LOOK_EVERY_MS);
  look.unref();
  process.stdin.once('end', gone);
  process.stdin.once('close', gone);
  process.stdout.once('error', gone);
  for (const name of SIGNALS) process.once(name, gone);
  await promise;
  clearInterval(look);
  for (const name of SIGNALS) process.off(name, gone);
}
