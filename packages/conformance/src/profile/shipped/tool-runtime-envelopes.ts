/** `tool-runtime stdio`: the same tools through envelopes, which also carry idempotency keys. */
import type { ProfileSource } from '../profile.ts';
import { toolRuntimeMcp } from './tool-runtime-mcp.ts';

export const toolRuntimeEnvelopes: ProfileSource = {
  ...toolRuntimeMcp,
  name: 'tool-runtime-envelopes',
  summary: 'tool-runtime stdio',
  start: {
    envelopes: '{program} stdio --workspace {workspace} --state {state} --registry {setup}/registry.yaml',
  },
  tools: {
    ...toolRuntimeMcp.tools,
    read: { tool: 'file_read', args: { path: '{path}' }, text: 'data.content' },
  },
  idempotency: { in: 'envelope', field: 'idempotency_key', durable: true },
};
