/** A host that calls a server which does not end by itself, prints the server's process id, and waits to be killed. */
import { createStage, lying, mounted } from '../gateway-stage.ts';

const stage = createStage();
const registry = mounted({ s: lying('lingers', { isolation: 'none' }) });
await stage.approve(registry, 's');
const { session } = await stage.open(registry);
const { data } = await session.call('s_work', {});
process.stdout.write(`${(data as { content: { text: string }[] }).content[0]?.text}\n`);
