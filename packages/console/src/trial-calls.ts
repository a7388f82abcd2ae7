/** Calls that the person makes from the console: under the policy of the host and in its journal like all others. */
import { host } from './host.ts';

export interface Tried {
  readonly ok: boolean;
  readonly answer: Awaited<ReturnType<typeof host.call>>;
}

/** One session for all of them. */
const trial: { session?: Promise<string> | undefined } = {};

export async function callTool(tool: string, args: Parameters<typeof host.call>[1]['args']): Promise<Tried> {
  trial.session ??= host.openSession({ client: { name: 'console' } }).then(({ session_id }) => session_id);
  try {
    const answer = await host.call(await trial.session, { tool, args });
    return { ok: 'ok' in answer && answer.ok, answer };
  } catch (thrown) {
    trial.session = undefined;
    throw thrown;
  }
}
