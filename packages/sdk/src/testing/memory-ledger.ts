/** A ledger of effects in memory, for two or more runtimes of one process on one workspace: hosts of a fleet without servers. */
import { type JsonObject, ToolError } from '@tool-runtime/protocol';
import type { EffectClaim, EffectIntent, EffectLedger, EffectName, EffectState } from '../contracts/effect-ledger.ts';

interface Entry {
  readonly intent: EffectIntent;
  readonly owner: string;
  readonly at: number;
  answer?: JsonObject;
}

export interface MemoryLedger {
  /** The ledger as one host sees it. */
  of(host: string): EffectLedger;
  /** From now on this host holds the workspace; the calls of the one before are lost. */
  moveTo(host: string): void;
}

export function createMemoryLedger(): MemoryLedger {
  const entries = new Map<string, Entry>();
  let holder: string | undefined;
  let last = 0;
  const nameOf = ({ scope, key }: EffectName): string => JSON.stringify([scope, key]);
  const argsOf = ({ tool, args }: EffectName): string => JSON.stringify([tool, args]);

  function stateOf(name: EffectName): EffectState {
    const entry = entries.get(nameOf(name));
    if (entry === undefined) return { state: 'new' };
    const { intent, owner, at, answer } = entry;
    const { callId, rehearsal } = intent;
    if (argsOf(intent) !== argsOf(name)) return { state: 'conflict', callId };
    if (answer !== undefined) return { state: 'done', callId, answer };
    if (owner === holder) return { state: 'running', callId };
    return { state: 'lost', callId, at, ...(rehearsal === undefined ? {} : { rehearsal }) };
  }

  function claim(intent: EffectIntent, owner: string): EffectClaim {
    last += 1;
    const entry: Entry = { intent, owner, at: last };
    const name = nameOf(intent);
    entries.set(name, entry);
    const isCurrent = (): boolean => entries.get(name) === entry;
    return {
      state: 'claimed',
      async finish(answer) {
        if (isCurrent()) entry.answer = answer;
        return isCurrent();
      },
      async release() {
        if (isCurrent()) entries.delete(name);
      },
    };
  }

  return {
    of: (host) => ({
      checkFence: () => checkHolder(holder === host),
      lookup: async (name) => stateOf(name),
      async begin(intent) {
        checkHolder(holder === host);
        const state = stateOf(intent);
        const isOver = state.state === 'lost' && state.at === intent.over;
        return state.state === 'new' || isOver ? claim(intent, host) : state;
      },
    }),
    moveTo(host) {
      holder = host;
    },
  };
}

function checkHolder(isHeld: boolean): void {
  if (isHeld) return;
  throw new ToolError('E_POLICY', 'This host does not hold the workspace', {
    details: { gate: 'fleet', reason: 'fenced', next: 'ask the host that holds it' },
  });
}
