import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OTEL_METRICS, PROMETHEUS_METRICS } from './names.ts';

const SUFFIXES: Readonly<Record<string, string>> = { s: '_seconds', By: '_bytes' };

test('a metric of both worlds has the Prometheus name that its OpenTelemetry name, unit and kind lead to', () => {
  for (const [key, { name, unit }] of Object.entries(OTEL_METRICS)) {
    const metric = PROMETHEUS_METRICS[key as keyof typeof OTEL_METRICS];
    const base = name.replaceAll('.', '_');
    const suffix = SUFFIXES[unit] ?? '';
    const withUnit = base.endsWith(suffix) ? base : `${base}${suffix}`;
    assert.equal(metric.name, metric.type === 'counter' ? `${withUnit}_total` : withUnit);
  }
});

test('no name stands twice', () => {
  for (const metrics of [OTEL_METRICS, PROMETHEUS_METRICS]) {
    const names = Object.values(metrics).map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
  }
});
