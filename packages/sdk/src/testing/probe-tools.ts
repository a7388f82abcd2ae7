/** Small tools whose behaviour a test can steer and watch. */
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { type AnyTool, defineTool } from '../contracts/tool.ts';

const anyData = z.record(z.string(), z.unknown());

/** Answers at once and touches nothing. */
export const nothing = defineTool({
  name: 'probe_nothing',
  category: 'probe',
  title: 'Nothing',
  summary: 'Answers at once and touches nothing',
  args: z.strictObject({ text: z.string().optional() }),
  data: anyData,
  annotations: { kind: 'read', side_effect_level: 'read_only' },
  effect: 'read',
  risk: 'low',
  timeoutMs: 60_000,
  run: ({ text }) => ({ text: text ?? '' }),
});

export interface Counter {
  readonly tool: AnyTool;
  readonly runs: { count: number };
}

/** A mutating tool that is not safe to repeat, and counts how often it really ran. */
export function createCounter(name = 'probe_count'): Counter {
  const runs = { count: 0 };
  const tool = defineTool({
    name,
    category: 'probe',
    title: 'Count',
    summary: 'Counts how often it ran',
    args: z.strictObject({ n: z.int().default(0), fail: z.boolean().default(false) }),
    data: anyData,
    annotations: { kind: 'edit', side_effect_level: 'workspace_write' },
    effect: 'write',
    risk: 'medium',
    timeoutMs: 60_000,
    run: ({ n, fail }) => {
      runs.count += 1;
      if (fail) throw new TypeError('secret cause');
      return { n, run: runs.count };
    },
  });
  return { tool, runs };
}

/** Waits as long as it is told; `stubborn` ignores its signal. */
export const wait = defineTool({
  name: 'probe_wait',
  category: 'probe',
  title: 'Wait',
  summary: 'Waits as long as it is told',
  args: z.strictObject({ ms: z.int(), stubborn: z.boolean().default(false) }),
  data: anyData,
  annotations: { kind: 'read', side_effect_level: 'read_only' },
  effect: 'read',
  risk: 'low',
  timeoutMs: 60_000,
  async run({ ms, stubborn }, { signal, progress }) {
    progress(10, 'waiting');
    await pause(ms, undefined, stubborn ? {} : { signal });
    progress(90, 'waited');
    return { waited: ms };
  },
});
