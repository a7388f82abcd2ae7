/** A client made of single HTTP requests and a stream of server-sent events; coming back means asking for each call. */
import assert from 'node:assert/strict';
import {
  type ErrorMessage,
  type OpenSessionBody,
  type SessionOpened,
  sessionOpenedSchema,
} from '@tool-runtime/protocol';
import type { HostStage } from './host-stage.ts';
import { Inbox } from './inbox.ts';
import { createSseReader } from './sse-reader.ts';
import type { Attach, Client, ConnectOptions } from './transport.ts';

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface HttpWire {
  ask(request: HttpRequest): Promise<{ readonly status: number; readonly text: string }>;
  /** Resolves when the head of the answer is there; the body goes to `onText` as it comes, until `stop`. */
  follow(request: HttpRequest, onText: (text: string) => void): Promise<{ readonly status: number; stop(): void }>;
  /** Cuts whatever is under way. */
  drop(): void;
}

export interface RequestClientOptions extends ConnectOptions {
  /** What the client says who it is, when it has no token of a session. */
  readonly token: string | undefined;
}

export async function connectByRequests(
  { traffic }: HostStage,
  { withSessionToken = false, heartbeatTimeoutMs, after, token }: RequestClientOptions,
  wire: HttpWire,
): Promise<Client> {
  const inbox = new Inbox(traffic);
  const opened = after === undefined ? await openSession(heartbeatTimeoutMs) : undefined;
  const sessionId = after?.sessionId ?? opened?.session_id ?? '';
  const own = withSessionToken ? opened?.token : token;
  let isDropped = false;
  let stopEvents = (): void => {};

  async function openSession(timeout: number | undefined): Promise<SessionOpened> {
    const body: OpenSessionBody = timeout === undefined ? {} : { heartbeat_timeout_ms: timeout };
    const answer = await wire.ask({ method: 'POST', path: '/v1/sessions', token, body: JSON.stringify(body) });
    assert.equal(answer.status, 201, answer.text);
    traffic.body('SessionOpened', JSON.parse(answer.text));
    return sessionOpenedSchema.parse(JSON.parse(answer.text));
  }

  async function post(body: string | Uint8Array): Promise<void> {
    const { status, text } = await wire.ask({ method: 'POST', path: '/v1/call', token: own, body });
    if (isDropped) return;
    if (status === 202) return assert.equal(text, '');
    const { type } = JSON.parse(text) as { type: string };
    assert.equal(status >= 400, type === 'ErrorMessage', `${status} ${text}`);
    inbox.push(text);
    return undefined;
  }

  function sendBytes(body: string | Uint8Array): void {
    post(body).catch((thrown: unknown) => {
      if (!isDropped) inbox.close(`request failed: ${String(thrown)}`);
    });
  }

  async function follow({ after: lastId, events = 'progress' }: Attach): Promise<void> {
    stopEvents();
    const reader = createSseReader({
      event({ id, data }) {
        assert.equal((JSON.parse(data) as { id: number }).id, id);
        if (!isDropped) inbox.push(data);
      },
      comment: (text) => (text === 'beat' ? inbox.sign() : undefined),
    });
    const path = `/v1/events?session_id=${sessionId}&events=${events}`;
    const headers: Record<string, string> = lastId === undefined ? {} : { 'last-event-id': String(lastId) };
    const stream = await wire.follow({ method: 'GET', path, token: own, headers }, reader.push);
    assert.equal(stream.status, 200);
    stopEvents = () => stream.stop();
  }

  /** Asks until the call has an answer. */
  async function recover(requestId: string): Promise<void> {
    const path = `/v1/sessions/${sessionId}/calls/${encodeURIComponent(requestId)}`;
    for (;;) {
      const { status, text } = await wire.ask({ method: 'GET', path, token: own });
      if (status === 200) return inbox.push(text);
      if (status === 404) return inbox.push({ ...(JSON.parse(text) as ErrorMessage), request_id: requestId });
      assert.equal(status, 202, text);
      traffic.body('CallState', JSON.parse(text));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  return {
    sessionId,
    inbox,
    send(message) {
      // What HTTP has no use for is sent all the same when a test wants to see it refused.
      traffic.said('to host', message);
      sendBytes(JSON.stringify(message));
    },
    sendRaw: sendBytes,
    async attach(attach = {}) {
      await follow(attach);
      for (const requestId of attach.pending ?? []) {
        recover(requestId).catch((thrown: unknown) => inbox.close(`request failed: ${String(thrown)}`));
      }
    },
    drop() {
      isDropped = true;
      stopEvents();
      wire.drop();
    },
    leave: () => stopEvents(),
    async endSession(how) {
      const { status } = await wire.ask({
        method: 'DELETE',
        path: `/v1/sessions/${sessionId}?mode=${how}`,
        token: own,
      });
      assert.equal(status, 204);
    },
  };
}
