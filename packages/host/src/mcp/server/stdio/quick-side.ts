/** What is answered without the SDK once a connection is open: the list of tools, and plain calls. */
import { listTools } from '../list-tools.ts';
import { LIST_HINT } from '../server-definition.ts';
import type { Caller } from './family.ts';
import { hasOnly, type PlainMessage } from './plain-message.ts';
import { QuickCalls, type QuickCallsOptions } from './quick-calls.ts';

const LIST_PARAMS: ReadonlySet<string> = new Set(['_meta']);

export interface QuickSide {
  readonly calls: QuickCalls;
  /** False: nothing was done, this message is one for the SDK. */
  take(message: PlainMessage, caller: Caller): boolean;
}

export function startQuickSide(options: QuickCallsOptions): QuickSide {
  const { backend, write, handOver } = options;
  const calls = new QuickCalls(options);

  async function list(message: PlainMessage, caller: Caller): Promise<void> {
    try {
      const result = await listTools(backend, undefined);
      const hinted = caller.isModern ? { ...result, ...LIST_HINT } : result;
      write(calls.framesOf(caller).of(message.id ?? '', hinted));
    } catch {
      // The SDK's handler will meet the same and knows how to say it.
      handOver(message);
    }
  }

  return {
    calls,
    take(message, caller) {
      if (message.method === 'tools/call') return calls.take(message, caller);
      const { id, params = {} } = message;
      if (message.method !== 'tools/list' || id === undefined || !hasOnly(params, LIST_PARAMS)) return false;
      if (hasProgressToken(params['_meta'])) return false;
      void list(message, caller);
      return true;
    },
  };
}

function hasProgressToken(meta: unknown): boolean {
  return typeof meta === 'object' && meta !== null && 'progressToken' in meta;
}
