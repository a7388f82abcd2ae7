/**
 * Runs programs that write into the workspace and says on stdout when each call was answered. Traced by
 * ./programs-sync.deep.test.ts.
 */
import { createRuntime, type RuntimeOptions } from '../src/index.ts';

const [workspace = '', state = '', level = 'normal'] = process.argv.slice(2);
const registry = {
  version: 1,
  shell: { mode: 'sandboxed' },
  approvals: { auto_approve: ['*'] },
  sandbox: { toolchains: [] },
};

const runtime = await createRuntime({
  workspace,
  state,
  registry: { text: JSON.stringify(registry), file: 'tool-runtime.yaml' },
  durability: level as NonNullable<RuntimeOptions['durability']>,
});
const session = await runtime.openSession({});
for (const [tool, args] of [
  ['shell_exec', { cmd: 'echo written > by-command.txt' }],
  ['git_checkout', { ref: 'other' }],
  ['git_status', {}],
] as const) {
  const { ok, errors } = await session.call(tool, args);
  process.stdout.write(`${ok ? 'ACK' : 'FAILED'} ${tool} ${JSON.stringify(errors)}\n`);
}
await runtime.close();
