/** Runs commands with a text of their own among their words until it is killed. Started, and killed, by orphans.deep.test.ts. */
import { createRuntime } from '../src/runtime.ts';

const [workspace = '', state = '', isolation = '', mark = ''] = process.argv.slice(2);
const text = `version: 1\nisolation: ${isolation}\nshell_allow: ['^sleep [0-9.]+$']\nlimits: { max_in_flight: 64, max_commands: 64 }\n`;
const runtime = await createRuntime({ workspace, state, registry: { text, file: 'orphans.yaml' } });
const session = await runtime.openSession({});
// The sandbox is tried once: not what is to be interrupted.
const { ok, errors } = await session.call('shell_exec', { cmd: 'sleep 0' });
process.stdout.write(ok ? 'begins\n' : `failed ${JSON.stringify(errors)}\n`);
for (;;) {
  const running = Array.from({ length: 3 }, () => session.call('shell_exec', { cmd: `sleep 3600.${mark}` }));
  await Promise.race([...running, new Promise((resolve) => setTimeout(resolve, 3))]);
}
