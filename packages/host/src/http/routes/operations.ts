/** Routes about the host itself: status, metrics, stopping it, health, and the documents of its interfaces. */
import { hostStatusSchema } from '@tool-runtime/protocol';
import { z } from 'zod';
import { PROMETHEUS_CONTENT_TYPE, renderMetrics } from '../prometheus.ts';
import { defineRoute } from '../route.ts';

/** The host in numbers, for `tool-runtime status` and for people. */
export const status = defineRoute({
  id: 'status',
  method: 'get',
  path: '/v1/status',
  summary: 'The host in numbers',
  scope: 'read',
  isHostWide: true,
  answers: { 200: { description: 'Status', schema: hostStatusSchema } },
  handle: ({ host }) => ({ status: 200, json: host.status() }),
});

/** Figures for Prometheus. They need a token: tool names and counts say what is being worked on. */
export const metrics = defineRoute({
  id: 'metrics',
  method: 'get',
  path: '/metrics',
  summary: 'Counters and histograms for Prometheus',
  scope: 'read',
  isHostWide: true,
  answers: { 200: { description: 'Prometheus text format', type: PROMETHEUS_CONTENT_TYPE } },
  handle({ host }) {
    const { sessions, connections, in_flight, approvals, uptime_ms, memory_bytes } = host.status();
    const text = renderMetrics({
      totals: host.workspaces.all.map(({ runtime }) => runtime.metrics.totals()),
      host: {
        sessions,
        connections,
        inFlight: in_flight,
        approvals,
        uptime: uptime_ms / 1000,
        memory: memory_bytes,
        eventsMissed: host.eventsMissed,
        auth: host.attempts.figures(),
      },
    });
    return { status: 200, text, type: PROMETHEUS_CONTENT_TYPE };
  },
});

/** Lets the host stop as a signal would. The answer comes first, the stop after it. */
export const drain = defineRoute({
  id: 'drain',
  method: 'post',
  path: '/v1/drain',
  summary: 'Stop the host after its running calls',
  scope: 'admin',
  answers: { 202: { description: 'It stops', schema: z.strictObject({ state: z.literal('draining') }) } },
  handle({ host }) {
    host.requestStop();
    return { status: 202, json: { state: 'draining' } };
  },
});

/** For supervisors, without a token: answers as long as the event loop runs, also while the host drains. */
export const healthz = defineRoute({
  id: 'healthz',
  method: 'get',
  path: '/healthz',
  summary: 'The process lives',
  scope: 'open',
  answers: { 200: { description: 'It does', schema: z.strictObject({ status: z.literal('ok') }) } },
  handle: () => ({ status: 200, json: { status: 'ok' } }),
});

const answer = z.strictObject({ status: z.enum(['starting', 'ready', 'draining']) });

/** For load balancers: 503 as soon as the host drains, while running calls still end. */
export const readyz = defineRoute({
  id: 'readyz',
  method: 'get',
  path: '/readyz',
  summary: 'New sessions and calls are taken',
  scope: 'open',
  answers: {
    200: { description: 'They are', schema: answer },
    503: { description: 'Not yet, or no longer', schema: answer },
  },
  handle: ({ host }) => ({ status: host.state === 'ready' ? 200 : 503, json: { status: host.state } }),
});

/** The routes of the host. Nothing in the documents is secret, so they need no token. */
export const openapi = defineRoute({
  id: 'openapi',
  method: 'get',
  path: '/openapi.json',
  summary: 'This interface as an OpenAPI document',
  scope: 'open',
  answers: { 200: { description: 'OpenAPI 3.1', schema: z.looseObject({ openapi: z.literal('3.1.0') }) } },
  handle: ({ documents }) => ({ status: 200, text: documents.openApi() }),
});

/** The connections that stay open, described like the routes are. */
export const asyncapi = defineRoute({
  id: 'asyncapi',
  method: 'get',
  path: '/asyncapi.json',
  summary: 'WebSocket, Unix socket, standard streams and events as an AsyncAPI document',
  scope: 'open',
  answers: { 200: { description: 'AsyncAPI 3.0', schema: z.looseObject({ asyncapi: z.literal('3.0.0') }) } },
  handle: ({ documents }) => ({ status: 200, text: documents.asyncApi() }),
});
