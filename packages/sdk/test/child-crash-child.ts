/** Opens a family, makes one call in the youngest and kills itself. Started by child-crash.test.ts. */
import { createRuntime } from '../src/index.ts';

const [workspace = '', state = ''] = process.argv.slice(2);
const runtime = await createRuntime({ workspace, state });
const session = await runtime.openSession();
const over = await session.openChild({ agentId: 'over' });
await over.complete();
const child = await session.openChild({ agentId: 'child' });
const grandchild = await child.openChild({ agentId: 'grandchild' });
await grandchild.call('fs_list', { glob: '*' });
process.kill(process.pid, 'SIGKILL');
