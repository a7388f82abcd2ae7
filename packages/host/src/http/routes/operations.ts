/** Routes for operators: status, metrics, and stopping the host. */
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
