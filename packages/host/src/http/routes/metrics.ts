/** Figures for Prometheus. They need a token: tool names and counts say what is being worked on. */
import { PROMETHEUS_CONTENT_TYPE, renderMetrics } from '../prometheus.ts';
import { defineRoute } from '../route.ts';

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
