/** Every record: narrowed by facets, time and words, whole or broken, and exported exactly as filtered. */
import type { RecordPage, RecordQuery, RecordRow } from '@tool-runtime/protocol';
import { useRef, useState } from 'preact/hooks';
import { FILTER_KEYS, has, parseFilter, toggleIn } from '../filter.ts';
import { brief, bytes, clock, count, day, shortId, visible } from '../format.ts';
import { host } from '../host.ts';
import { addressOf, choice, choose, go } from '../location.ts';
import { Chip, Empty, Head, Problem, Time } from '../parts/bits.tsx';
import { FilterBar } from '../parts/filter-bar.tsx';
import { VirtualRows } from '../parts/virtual-rows.tsx';
import { useLoaded } from '../use-loaded.ts';

function queryOf(): RecordQuery {
  const [from, to] = [choice('from'), choice('to')];
  return {
    ...parseFilter(choice('q')),
    ...(from === '' ? {} : { from: Number(from) }),
    ...(to === '' ? {} : { to: Number(to) }),
    ...(choice('archived') === 'true' ? { archived: 'true' } : {}),
  };
}

export function Journal() {
  const query = queryOf();
  const key = JSON.stringify(query);
  const first = useLoaded(() => host.records({ ...query, limit: 1, facets: 'true' }), [key], { live: true });
  const page = first.value;
  const head = page?.head ?? 0;
  return (
    <>
      <Head title="Journal">
        <Chain />
        <Exports query={query} />
      </Head>
      <FilterBar hint="kind:decision decision:deny rule:… words   ( / )" />
      {first.problem === undefined ? null : <Problem problem={first.problem} again={first.again} />}
      {page === undefined ? null : (
        <div class="journal">
          <Facets page={page} />
          <div class="journal-main">
            <Brush page={page} />
            <p class="hint">
              {count(page.total)} records{page.is_complete ? '' : ', the newest ones; older ones are in the file'}
              <label class="switch">
                <input
                  type="checkbox"
                  checked={choice('archived') === 'true'}
                  onChange={(event) => choose({ archived: event.currentTarget.checked ? 'true' : undefined })}
                />
                with archives
              </label>
            </p>
            {page.total === 0 ? (
              <Empty title="No record matches">Take words out of the filter, or choose a longer time.</Empty>
            ) : (
              <VirtualRows<RecordRow>
                label="Records"
                total={page.total}
                rowHeight={34}
                version={`${key} ${head}`}
                load={async (offset, limit) => (await host.records({ ...query, head, offset, limit })).records}
                render={(row) => <Line row={row} />}
                open={(row) => row.call_id !== undefined && go('call', row.call_id)}
              />
            )}
          </div>
        </div>
      )}
    </>
  );
}

function Line({ row }: { readonly row: RecordRow }) {
  const inner = (
    <>
      <span class="number seq">{row.seq}</span>
      <Time ms={row.at_ms} />
      <span class="kind">{visible(row.kind, 20)}</span>
      <Chip word={row.word} decision={row.decision} />
      <span class="tool">{row.tool === undefined ? '' : visible(row.tool, 60)}</span>
      <span class="summary">{brief(row.text)}</span>
      <span class="id">{row.session_id === undefined ? '' : shortId(row.session_id)}</span>
    </>
  );
  return row.call_id === undefined ? (
    <span class="record">{inner}</span>
  ) : (
    <a class="record" tabIndex={-1} href={addressOf('call', row.call_id)}>
      {inner}
    </a>
  );
}

function Facets({ page }: { readonly page: RecordPage }) {
  const line = choice('q');
  return (
    <aside class="facets" aria-label="Facets">
      {FILTER_KEYS.map((name) => {
        const values = page.facets?.[name] ?? [];
        if (values.length === 0) return null;
        return (
          <fieldset key={name}>
            <legend>{name}</legend>
            {values.map(({ value, count: times }) => (
              <button
                key={value}
                type="button"
                class="facet"
                aria-pressed={has(line, name, value)}
                onClick={() => choose({ q: toggleIn(line, name, value) })}
              >
                <span>{name === 'session' ? shortId(value) : brief(value)}</span>
                <span class="number">{count(times)}</span>
              </button>
            ))}
          </fieldset>
        );
      })}
    </aside>
  );
}

/** Records over time. A drag over it chooses that time. */
function Brush({ page }: { readonly page: RecordPage }) {
  const start = useRef<number>(undefined);
  const over = page.over_time;
  const isNarrowed = choice('from') !== '' || choice('to') !== '';
  if (over === undefined) return null;
  const most = Math.max(1, ...over.counts);
  const timeAt = (event: PointerEvent): number => {
    const { left, width } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (event.clientX - left) / width));
    return Math.round(over.from + (over.to - over.from) * share);
  };
  return (
    <figure class="brush">
      <div
        class="brush-bars"
        onPointerDown={(event) => {
          start.current = timeAt(event);
        }}
        onPointerUp={(event) => {
          const [one, other] = [start.current ?? 0, timeAt(event)];
          start.current = undefined;
          if (Math.abs(one - other) < (over.to - over.from) / 100) return;
          choose({ from: String(Math.min(one, other)), to: String(Math.max(one, other)) });
        }}
      >
        {over.counts.map((times, at) => (
          <span key={at} class="brush-bar" style={{ height: `${(times / most) * 100}%` }}>
            <i style={{ height: times === 0 ? '0' : `${((over.denied[at] ?? 0) / times) * 100}%` }} />
          </span>
        ))}
      </div>
      <figcaption>
        {day(over.from)} {clock(over.from)} – {day(over.to)} {clock(over.to)} · drag to choose a time
        {isNarrowed ? (
          <button type="button" class="small" onClick={() => choose({ from: undefined, to: undefined })}>
            All times
          </button>
        ) : null}
      </figcaption>
    </figure>
  );
}

function Chain() {
  const [verdict, setVerdict] = useState('');
  const [isBusy, setBusy] = useState(false);
  const state = useLoaded(() => host.journal(), [], { live: true });
  const check = async (): Promise<void> => {
    setBusy(true);
    const { ok, records, broken } = await host.verifyJournal();
    setVerdict(ok ? `whole: ${count(records)} records` : `broken at ${broken?.seq}: ${broken?.reason}`);
    setBusy(false);
  };
  return (
    <>
      <span class={`chip ${verdict === '' ? 'quiet' : verdict.startsWith('whole') ? 'good' : 'bad'}`} role="status">
        {verdict === '' ? `chain head ${count(state.value?.head.seq ?? 0)}` : verdict}
      </span>
      <button type="button" disabled={isBusy} onClick={() => void check()}>
        {isBusy ? 'Checking…' : 'Verify'}
      </button>
    </>
  );
}

function Exports({ query }: { readonly query: RecordQuery }) {
  const [size, setSize] = useState('');
  const save = async (format: 'jsonl' | 'csv' | 'sarif'): Promise<void> => {
    const text = await host.exportRecords({ ...query, format });
    const file = new Blob([text]);
    setSize(`${format.toUpperCase()}, ${bytes(file.size)}`);
    const anchor = document.createElement('a');
    anchor.href = URL.createObjectURL(file);
    anchor.download = `records.${format}`;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 10_000);
  };
  return (
    <span class="segmented" role="group" aria-label="Export what is filtered" title={size}>
      <button type="button" onClick={() => void save('jsonl')}>
        JSONL
      </button>
      <button type="button" onClick={() => void save('csv')}>
        CSV
      </button>
      <button type="button" onClick={() => void save('sarif')}>
        SARIF
      </button>
    </span>
  );
}
