/** The messages the suite sends. */
import type {
  BatchRequest,
  CancelRequest,
  ChildOpen,
  Heartbeat,
  JsonObject,
  ToolRequest,
} from '@tool-runtime/protocol';
import type { Client } from './transport.ts';

type Addressed = Pick<Client, 'sessionId'>;

export function toolRequest(
  { sessionId }: Addressed,
  requestId: string,
  tool: string,
  args: JsonObject,
  more: Partial<ToolRequest> = {},
): ToolRequest {
  return { type: 'ToolRequest', tool, args, request_id: requestId, session_id: sessionId, timestamp: 1, ...more };
}

/** A call that runs until its name is released. */
export function waitRequest(client: Addressed, requestId: string, name: string, more: Partial<ToolRequest> = {}) {
  return toolRequest(client, requestId, 'shell_exec', { cmd: 'sh wait', cwd: name }, more);
}

export function readRequest(client: Addressed, requestId: string, more: Partial<ToolRequest> = {}): ToolRequest {
  return toolRequest(client, requestId, 'file_read', { path: 'hello.txt' }, more);
}

export function batchRequest(
  { sessionId }: Addressed,
  requestId: string,
  calls: BatchRequest['calls'],
  more: Partial<BatchRequest> = {},
): BatchRequest {
  return { type: 'BatchRequest', request_id: requestId, session_id: sessionId, timestamp: 1, calls, ...more };
}

export function cancelRequest({ sessionId }: Addressed, requestId: string): CancelRequest {
  return { type: 'CancelRequest', request_id: requestId, session_id: sessionId, timestamp: 1 };
}

export function heartbeat({ sessionId }: Addressed): Heartbeat {
  return { type: 'Heartbeat', session_id: sessionId, timestamp: 1 };
}

export function childOpen({ sessionId }: Addressed, requestId: string, more: Partial<ChildOpen> = {}): ChildOpen {
  return { type: 'ChildOpen', request_id: requestId, session_id: sessionId, agent_id: 'helper', ...more };
}
