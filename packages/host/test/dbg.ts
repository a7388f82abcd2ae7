import { unixLines } from './conformance/drivers/unix-lines.ts';
import { waitRequest } from './conformance/envelopes.ts';

const t = await unixLines();
const c = await t.connect();
c.send(waitRequest(c, 'r', 'abc'));
setTimeout(() => t.stage.release('abc'), 500);
console.log(JSON.stringify(await c.inbox.terminal('r')), c.inbox.messages);
await t.close();
console.log('closed');
