/** Calls that try to get out. Each must fail, whatever else is wrong with the world; the canaries say whether it did. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { CallPlan } from '../../../packages/host/test/load/call-book.ts';
import { type CallKind, type Lane, planCall } from './call-maker.ts';

/** A link in every workspace that leads to the folder of the canaries. */
export const WAY_OUT = 'shared/way-out';

export const attackCalls: readonly CallKind[] = [{ name: 'try to get out', weight: 60, make: attack }];

function attack(lane: Lane): CallPlan {
  const { tool, args } = lane.random.pick(attempts(lane));
  const plan = planCall(lane, { tool, args });
  return {
    ...plan,
    kind: 'refused',
    judge: (answer) => (answer.ok && !isHarmless(answer.data as JsonObject) ? 'was not refused' : undefined),
  };
}

/** A sandboxed command may run and fail. */
function isHarmless(data: JsonObject | null): boolean {
  return typeof data?.['code'] === 'number' && data['code'] !== 0;
}

function attempts({ site, ports }: Lane): readonly { readonly tool: string; readonly args: JsonObject }[] {
  const content = 'escaped\n';
  const outside = `${site.folder}/../../outside/canary.txt`;
  return [
    { tool: 'file_write', args: { path: '../outside/canary.txt', content } },
    { tool: 'file_write', args: { path: outside, content } },
    { tool: 'file_write', args: { path: `${WAY_OUT}/canary.txt`, content } },
    { tool: 'file_write', args: { path: `${WAY_OUT}/new.txt`, content, append: true } },
    { tool: 'file_read', args: { path: `${WAY_OUT}/canary.txt` } },
    { tool: 'fs_stat', args: { path: `${WAY_OUT}/canary.txt` } },
    { tool: 'fs_tree', args: { path: WAY_OUT } },
    { tool: 'fs_copy', args: { src: 'shared/tree', dst: `${WAY_OUT}/tree` } },
    { tool: 'fs_move', args: { src: 'shared/tree', dst: `${WAY_OUT}/tree` } },
    { tool: 'fs_delete', args: { path: `${WAY_OUT}/canary.txt` } },
    { tool: 'file_write', args: { path: '.git/hooks/post-commit', content } },
    { tool: 'shell_exec', args: { argv: ['mktemp', '-p', '../outside', 'x.XXXXXX'] } },
    { tool: 'shell_exec', args: { argv: ['cat', `${WAY_OUT}/canary.txt`] } },
    { tool: 'shell_exec', args: { cmd: 'sleep 0 && touch /tmp/escaped' } },
    { tool: 'curl', args: { url: `http://127.0.0.1:${ports.canary}/` } },
    { tool: 'curl', args: { url: `http://127.0.0.1:${ports.allowed}/leave/now` } },
    { tool: 'no_such_tool', args: {} },
  ];
}
