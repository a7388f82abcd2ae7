/** Ctrl-C and kill as an AbortSignal, so that calls are cancelled and the journal is closed in order. */

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The first signal aborts; a second one ends the process, as it would have without this. */
export async function withInterrupt<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const ignore = (): void => {
    for (const name of SIGNALS) process.off(name, interrupt);
  };
  const interrupt = (): void => {
    ignore();
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, interrupt);
  try {
    return await work(controller.signal);
  } finally {
    ignore();
  }
}
