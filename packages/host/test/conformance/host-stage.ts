/** The host the suite talks to, and the operator's own way to it, by which sessions are opened and ended. */
import assert from 'node:assert/strict';
import { type OpenSessionBody, type SessionOpened, sessionInfoSchema } from '@tool-runtime/protocol';
import { openHost, type TestHost, type TestHostOptions } from '../open-host.ts';
import { REGISTRY, Stage } from './stage.ts';
import { createTraffic, type Traffic } from './traffic.ts';

export interface HostStage {
  readonly host: TestHost;
  readonly stage: Stage;
  readonly traffic: Traffic;
  openSession(body?: OpenSessionBody): Promise<SessionOpened>;
  endSession(sessionId: string, how: 'wait' | 'cancel'): Promise<void>;
  /** Of the events of a session, the newest. */
  lastEventId(sessionId: string): Promise<number>;
  close(): Promise<void>;
}

/** Often enough that a test need not wait long, seldom enough that a busy machine answers three of them in time. */
const HEARTBEAT_MS = 1000;

export async function openHostStage(options: TestHostOptions = {}): Promise<HostStage> {
  const host = await openHost({
    registryText: REGISTRY,
    // A proxy that cuts wires has a port of its own.
    allowHosts: ['127.0.0.1'],
    ...options,
    limits: { heartbeatMs: HEARTBEAT_MS, ...options.limits },
  });
  const traffic = createTraffic();
  return {
    host,
    stage: new Stage(host.workspace),
    traffic,
    async openSession(body = {}) {
      const answer = await host.request('/v1/sessions', { body });
      const opened = (await answer.json()) as SessionOpened;
      assert.equal(answer.status, 201);
      traffic.body('SessionOpened', opened);
      return opened;
    },
    async endSession(sessionId, how) {
      const answer = await host.request(`/v1/sessions/${sessionId}?mode=${how}`, { method: 'DELETE' });
      assert.equal(answer.status, 204);
    },
    async lastEventId(sessionId) {
      const info: unknown = await (await host.request(`/v1/sessions/${sessionId}`)).json();
      traffic.body('SessionInfo', info);
      return sessionInfoSchema.parse(info).last_event_id;
    },
    close: () => host[Symbol.asyncDispose](),
  };
}
