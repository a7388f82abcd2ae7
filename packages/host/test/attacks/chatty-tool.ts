/** A tool that reports progress endlessly, faster than a client can read. */
import { defineTool } from '@tool-runtime/sdk';
import { z } from 'zod';

export const chatty = defineTool({
  name: 'probe_chatty',
  category: 'probe',
  title: 'Talk',
  summary: 'Reports progress as often as it is told',
  args: z.strictObject({ times: z.int(), size: z.int() }),
  data: z.strictObject({ times: z.int() }),
  annotations: { kind: 'read', side_effect_level: 'read_only' },
  effect: 'read',
  risk: 'low',
  timeoutMs: 60_000,
  async run({ times, size }, { progress }) {
    for (let count = 1; count <= times; count++) {
      progress(count / times, `${count} `.padEnd(size, 'x'));
      if (count % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return { times };
  },
});
