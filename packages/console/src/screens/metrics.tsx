/** Figures over time and by tool. The charts are loaded with this screen, not with the page. */
import type { MetricsHistory, ToolFigures } from '@tool-runtime/protocol';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { bytes, clock, count, duration, isUtc, visible } from '../format.ts';
import { host } from '../host.ts';
import { now } from '../live.ts';
import { addressOf, choice, choose } from '../location.ts';
import { Empty, Head, Panel, Problem } from '../parts/bits.tsx';
import { theme } from '../theme.ts';
import { useLoaded } from '../use-loaded.ts';

type Sample = MetricsHistory['samples'][number];

const EVERY_MS = 5000;

/** Over the tools that are chosen, or all of them. */
function sum(sample: Sample, tool: string, read: (figures: ToolFigures) => number): number {
  const chosen = tool === '' ? Object.values(sample.tools) : [sample.tools[tool]].filter((one) => one !== undefined);
  return chosen.reduce((total, figures) => total + read(figures), 0);
}

/** The slowest of the tools: quantiles of several cannot be added. */
function highest(sample: Sample, tool: string, read: (figures: ToolFigures) => number): number | null {
  const chosen = tool === '' ? Object.values(sample.tools) : [sample.tools[tool]].filter((one) => one !== undefined);
  return chosen.length === 0 ? null : Math.max(...chosen.map(read));
}

/** Nothing where no session has such a limit. */
const percent = (share: number | undefined): number | null => (share === undefined ? null : share * 100);

export function Metrics() {
  const tool = choice('tool');
  const loaded = useLoaded(() => host.metricsHistory(), [Math.floor(now.value / EVERY_MS)]);
  const status = useLoaded(() => host.status(), [Math.floor(now.value / EVERY_MS)]);
  const history = loaded.value;
  const samples = history?.samples ?? [];
  const perSecond = (history?.step_ms ?? EVERY_MS) / 1000;
  const at = samples.map(({ at_ms }) => at_ms / 1000);
  const series = (read: (sample: Sample) => number | null) => samples.map(read);
  return (
    <>
      <Head title="Metrics">
        {status.value === undefined ? null : (
          <span class="chip quiet">
            up {duration(status.value.uptime_ms)} · {bytes(status.value.memory_bytes)}
          </span>
        )}
        {tool === '' ? null : (
          <button type="button" onClick={() => choose({ tool: undefined })}>
            All tools instead of {visible(tool, 60)}
          </button>
        )}
      </Head>
      {loaded.problem === undefined ? null : <Problem problem={loaded.problem} again={loaded.again} />}
      {samples.length === 0 ? (
        <Empty title="No figures yet">The host takes a sample every five seconds and keeps an hour of them.</Empty>
      ) : (
        <div class="charts">
          <Chart
            title="Calls a second"
            at={at}
            lines={[['calls', series((one) => sum(one, tool, ({ calls }) => calls) / perSecond)]]}
          />
          <Chart
            title="Denials and errors"
            at={at}
            lines={[
              ['denials', series((one) => sum(one, tool, ({ denials }) => denials))],
              ['errors', series((one) => sum(one, tool, ({ errors, denials }) => errors - denials))],
            ]}
          />
          <Chart
            title={tool === '' ? 'Milliseconds, slowest tool' : 'Milliseconds'}
            at={at}
            lines={[
              ['p50', series((one) => highest(one, tool, ({ p50 }) => p50))],
              ['p95', series((one) => highest(one, tool, ({ p95 }) => p95))],
              ['p99', series((one) => highest(one, tool, ({ p99 }) => p99))],
            ]}
          />
          <Chart
            title="Running, queued, asking"
            at={at}
            lines={[
              ['running', series(({ in_flight }) => in_flight)],
              ['queued', series(({ queued }) => queued)],
              ['asking', series(({ approvals }) => approvals)],
            ]}
          />
          <Chart
            title="KiB a second"
            at={at}
            lines={[['answers', series((one) => sum(one, tool, ({ bytes: size }) => size) / 1024 / perSecond)]]}
          />
          <Chart
            title="Waiting, ms"
            at={at}
            lines={[
              ['for locks', series((one) => sum(one, tool, ({ lock_wait_ms }) => lock_wait_ms))],
              ['for a person', series((one) => sum(one, tool, ({ approval_wait_ms }) => approval_wait_ms))],
            ]}
          />
          <Chart
            title="Budgets used, %, fullest session"
            at={at}
            lines={[
              ['calls', series(({ budgets }) => percent(budgets['max_calls']))],
              ['bytes', series(({ budgets }) => percent(budgets['max_bytes']))],
              ['time', series(({ budgets }) => percent(budgets['max_duration_ms']))],
            ]}
          />
          <Chart
            title="Mounted servers"
            at={at}
            lines={[
              ['mounted', series(({ servers: { mounted } }) => mounted)],
              ['running', series(({ servers: { running } }) => running)],
              ['tools waiting', series(({ servers: { waiting } }) => waiting)],
            ]}
          />
        </div>
      )}
      {history === undefined ? null : <ByTool totals={history.totals} />}
    </>
  );
}

function ByTool({ totals }: { readonly totals: MetricsHistory['totals'] }) {
  const rows = Object.entries(totals).sort(([, one], [, other]) => other.calls - one.calls);
  return (
    <Panel title="By tool, since the start">
      {rows.length === 0 ? <Empty title="No calls since the start" /> : null}
      <div class="scroll" role="region" aria-label="By tool" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>tool</th>
              {['calls', 'denied', 'errors', 'p50', 'p95', 'p99', 'answers', 'lock wait'].map((name) => (
                <th key={name} class="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([tool, one]) => (
              <tr key={tool}>
                <td>
                  <a href={addressOf('metrics', '', { tool })}>{visible(tool, 80)}</a>
                </td>
                <td class="number">{count(one.calls)}</td>
                <td class="number">{count(one.denials)}</td>
                <td class="number">{count(one.errors - one.denials)}</td>
                <td class="number">{duration(one.p50)}</td>
                <td class="number">{duration(one.p95)}</td>
                <td class="number">{duration(one.p99)}</td>
                <td class="number">{bytes(one.bytes)}</td>
                <td class="number">{duration(one.lock_wait_ms)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

interface ChartProps {
  readonly title: string;
  readonly at: readonly number[];
  readonly lines: readonly (readonly [string, readonly (number | null)[]])[];
}

const HEIGHT = 150;
const TONES = ['--line-1', '--line-2', '--line-3'];

function Chart({ title, at, lines }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = [at, ...lines.map(([, values]) => values)] as uPlot.AlignedData;
  const look = theme.value;
  const utc = isUtc.value;
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const style = getComputedStyle(document.documentElement);
    const color = (name: string): string => style.getPropertyValue(name).trim();
    const axis = { stroke: color('--ink-soft'), grid: { stroke: color('--edge'), width: 1 }, ticks: { show: false } };
    plot.current = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { y: false },
        axes: [
          { ...axis, size: 28, values: (_self, ticks) => ticks.map((tick) => clock(tick * 1000)) },
          { ...axis, size: 46 },
        ],
        scales: { y: { range: (_self, _low, high) => [0, Math.max(1, (high ?? 1) * 1.1)] } },
        series: [
          {},
          ...lines.map(([label], index) => ({ label, width: 1.5, stroke: color(TONES[index] ?? '--line-1') })),
        ],
      },
      data,
      element,
    );
    const resize = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.current?.destroy();
    };
  }, [look, utc, lines.length]);
  useEffect(() => plot.current?.setData(data));
  const last = lines.map(([name, values]) => `${name} ${format(values.at(-1))}`).join(' · ');
  return (
    <figure class="panel chart">
      <figcaption>
        <strong>{title}</strong>
        <span class="legend">
          {lines.map(([name, values], index) => (
            <span key={name} class={`key key-${index + 1}`}>
              {name} {typeof values.at(-1) === 'number' ? <b>{format(values.at(-1))}</b> : null}
            </span>
          ))}
        </span>
      </figcaption>
      <div ref={place} role="img" aria-label={`${title}: ${last}`} />
    </figure>
  );
}

function format(value: number | null | undefined): string {
  return value === null || value === undefined ? 'none' : String(Number(value.toFixed(value < 1 ? 2 : 1)));
}
