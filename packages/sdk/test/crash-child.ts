/**
 * Makes one keyed call and kills itself (SIGKILL) at the named point. Started by crash.deep.test.ts.
 *
 * The tool `bell` is not safe to repeat: each run appends a line to a file outside the workspace.
 */
import { appendFileSync } from 'node:fs';
import { z } from 'zod';
import { createRuntime, defineTool } from '../src/index.ts';

const [workspace = '', state = '', effects = '', point = '', tool = 'bell'] = process.argv.slice(2);

function dieAt(here: string): void {
  if (here === point) process.kill(process.pid, 'SIGKILL');
}

const bell = defineTool({
  name: 'bell',
  category: 'probe',
  title: 'Bell',
  summary: 'Rings once more for every run',
  args: z.strictObject({}),
  data: z.strictObject({ rung: z.boolean() }),
  annotations: { kind: 'edit', side_effect_level: 'workspace_write' },
  effect: 'write',
  risk: 'medium',
  timeoutMs: 60_000,
  run() {
    dieAt('during-tool');
    appendFileSync(effects, 'ring\n');
    dieAt('after-effect');
    return { rung: true };
  },
});

const runtime = await createRuntime({
  workspace,
  state,
  tools: [bell],
  ports: {
    wrapParts(parts) {
      const { journal } = parts;
      return {
        ...parts,
        journal: {
          ...journal,
          async claim(claim, records) {
            const answer = await journal.claim(claim, records);
            dieAt('after-intent');
            return answer;
          },
          async settle(...args) {
            if (point === 'during-result') setImmediate(() => dieAt('during-result'));
            const pending = journal.settle(...args);
            dieAt('in-result-turn');
            await pending;
            dieAt('after-result');
          },
        },
      };
    },
  },
});
const session = await runtime.openSession({ actor: 'crash', client: 'crash-child' });
const args = tool === 'bell' ? {} : { path: 'note.txt', content: 'crash' };
const response = await session.call(tool, args, { idempotencyKey: 'only-once' });
process.stdout.write(`${JSON.stringify(response)}\n`);
await runtime.close();
