/**
 * Leaves a call to the host that runs on the same state folder, when its answer would be the same: equal workspace,
 * registry, trust, options, environment and version (host-basis.ts). Loads little, which is what makes it fast.
 *
 * The host file is ours and private, and the socket leads to the process it names: both are checked, the second by the
 * host, which answers here only the user it runs as.
 */
import { connect } from 'node:net';
import { type ErrorEntry, ToolError, type ToolResponse } from '@tool-runtime/protocol';
import { hostBasis } from '../ops/host-basis.ts';
import { readHostFile } from '../ops/host-file.ts';
import type { ShownAnswer } from '../sessions/show-answer.ts';
import type { WorkspaceOptions } from '../terminal/workspace-folder.ts';
import { stateOf } from './state-of.ts';

export interface HostedCall {
  readonly tool: string;
  readonly args?: object;
  readonly words?: readonly string[];
  readonly idempotency_key?: string;
  readonly timeout_ms?: number;
  /** Whether the answer is wanted as text for people too. */
  readonly is_shown: boolean;
}

export interface HostedAnswer {
  readonly pid: number;
  readonly response: ToolResponse;
  readonly warnings: readonly ErrorEntry[];
  readonly shown?: ShownAnswer;
}

/**
 * Undefined when no such host runs or it does not take the call; then nothing has happened, and the caller makes the call
 * itself. Rejects when the host is lost after it took the call.
 */
export async function callThroughHost(
  call: HostedCall,
  options: WorkspaceOptions,
  signal: AbortSignal,
): Promise<HostedAnswer | undefined> {
  const host = findHost(options);
  if (host === undefined) return undefined;
  const answer = await post(host.socket, JSON.stringify(call), signal);
  if (answer?.status !== 200) return undefined;
  return { pid: host.pid, ...(JSON.parse(answer.body) as Omit<HostedAnswer, 'pid'>) };
}

function findHost(options: WorkspaceOptions): { readonly pid: number; readonly socket: string } | undefined {
  try {
    const state = stateOf(options);
    const found = readHostFile(state);
    if (found?.isRunning !== true || found.socket === undefined || found.basis === undefined) return undefined;
    return found.basis === hostBasis(options, state) ? { pid: found.pid, socket: found.socket } : undefined;
  } catch {
    return undefined; // Whatever is wrong there, the call itself says it better.
  }
}

interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** One HTTP request by hand: Node's client would take longer to load than the call takes. */
function post(path: string, body: string, signal: AbortSignal): Promise<HttpAnswer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let isSent = false;
    const socket = connect({ path, signal });
    const lose = (cause?: Error): void => reject(signal.aborted ? cancelled() : lost(cause));
    socket.on('connect', () => {
      isSent = true;
      const head = `POST /v1/command-call HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json`;
      socket.write(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', (thrown) => (isSent || signal.aborted ? lose(thrown) : resolve(undefined)));
    socket.on('close', () => {
      const answer = parseAnswer(Buffer.concat(chunks));
      if (answer === undefined) lose();
      else resolve(answer);
    });
  });
}

/** Undefined when it is not whole. */
function parseAnswer(bytes: Buffer): HttpAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.toString('latin1', 0, Math.max(end, 0));
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1];
  const length = /^content-length: *(\d+)\r?$/im.exec(head)?.[1];
  const body = bytes.subarray(end + 4);
  return status === undefined || body.length !== Number(length)
    ? undefined
    : { status: Number(status), body: body.toString('utf8') };
}

function lost(cause: Error | undefined): ToolError {
  return new ToolError('E_INTERNAL', 'The host was lost before it answered', {
    details: { reason: 'host_lost', next: 'see in the journal whether the call ran: tool-runtime audit' },
    cause,
  });
}

/** The host cancels the call of a client that leaves. */
function cancelled(): ToolError {
  return new ToolError('E_INTERNAL', 'Call was cancelled', { details: { reason: 'cancelled' } });
}
