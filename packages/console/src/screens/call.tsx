/** One call with everything that is known about it. */
import type { CallDetail, CallRow } from '@tool-runtime/protocol';
import { useState } from 'preact/hooks';
import { brief, bytes, count, duration, shortId, toneOf, visible } from '../format.ts';
import { host } from '../host.ts';
import { addressOf, place } from '../location.ts';
import { type ArtifactName, Artifacts, artifactsOf } from '../parts/artifacts.tsx';
import { Chip, Copy, Facts, Head, Panel, Problem, Time } from '../parts/bits.tsx';
import { Diff, Json, Output } from '../parts/text-blocks.tsx';
import { type RecordedArgs, readSummary } from '../recorded-args.ts';
import { useLoaded } from '../use-loaded.ts';

type StoredRecord = CallDetail['records'][number];

export function Call() {
  const { id } = place.value;
  const loaded = useLoaded(() => host.callDetail(id), [id], {
    // What has ended stays as it is.
    live: (known) => known === undefined || known.call.call_id !== id || known.call.status === 'running',
  });
  const detail = loaded.value;
  if (detail === undefined) {
    return loaded.problem === undefined ? (
      <p class="hint">Loading…</p>
    ) : (
      <Problem problem={loaded.problem} again={loaded.again} />
    );
  }
  const { call } = detail;
  return (
    <>
      <Head title={visible(call.tool, 80)}>
        <Chip word={call.status} decision={call.decision} />
        <Copies detail={detail} />
      </Head>
      <p class="lead">{brief(call.summary)}</p>
      <div class="columns">
        <Panel title="Request">
          <Request call={call} />
        </Panel>
        <Panel title="Decision">
          <Decision detail={detail} />
        </Panel>
      </div>
      <Panel title="Stages">
        <Waterfall detail={detail} />
      </Panel>
      <Changes detail={detail} />
      <Answer detail={detail} />
      <Artifacts names={namesOf(detail)} />
      <Panel title="Records" tools={<Verify detail={detail} />}>
        <ol class="chain">
          {detail.records.map((record) => (
            <li key={String(record['seq'])}>
              <details>
                <summary>
                  <span class="number">{String(record['seq'])}</span> {visible(String(record['kind']), 40)}
                  <Time ms={Number(record['at_ms'])} full />
                </summary>
                <Json value={record} />
              </details>
            </li>
          ))}
        </ol>
      </Panel>
    </>
  );
}

function Request({ call }: { readonly call: CallRow }) {
  return (
    <Facts
      rows={[
        ['asked by', brief(call.actor)],
        ['client', brief(call.client)],
        [
          'session',
          <a href={addressOf('timeline', '', { q: `session:${call.session_id}`, w: '24 h' })}>
            {shortId(call.session_id)}
          </a>,
        ],
        ['request', <code>{brief(call.request_id)}</code>],
        ['call', <code>{brief(call.call_id)}</code>],
        ['at', <Time ms={call.at_ms} full />],
        call.duration_ms === undefined ? undefined : ['took', duration(call.duration_ms)],
        call.waited_ms === undefined ? undefined : ['waited for a person', duration(call.waited_ms)],
        call.bytes === undefined ? undefined : ['answer', bytes(call.bytes)],
      ]}
    />
  );
}

function Decision({ detail }: { readonly detail: CallDetail }) {
  const { call, records } = detail;
  const approval = records.find((record) => record['kind'] === 'approval' && record['phase'] === 'answered');
  return (
    <>
      <Facts
        rows={[
          ['verdict', <Chip word={call.decision} decision={call.decision} />],
          call.gate === undefined ? ['gate', 'every gate let it pass'] : ['gate', visible(call.gate, 60)],
          call.rule === undefined ? undefined : ['rule', <code>{visible(call.rule, 80)}</code>],
          call.registry === undefined ? undefined : ['line of the registry', <code>{brief(call.registry)}</code>],
          call.code === undefined ? undefined : ['code', <code>{visible(call.code, 60)}</code>],
          approval === undefined
            ? undefined
            : [
                'answered',
                `${brief(String(approval['answer']))} by ${brief(String(approval['answered_by'] ?? 'time'))}`,
              ],
          approval?.['reason'] === undefined ? undefined : ['reason', brief(String(approval['reason']))],
        ]}
      />
      {call.message === undefined ? null : (
        <p class={`word ${toneOf(call.status, call.decision)}`}>{visible(call.message, 2000)}</p>
      )}
      <a class="hint" href={addressOf('policy', '', { tool: call.tool, args: JSON.stringify(argsOf(detail).args) })}>
        Explain: what every gate says to this call now
      </a>
    </>
  );
}

/** From the times of the records; what happens between two of them has no record of its own. */
function Waterfall({ detail: { call, records } }: { readonly detail: CallDetail }) {
  const times = records.map((record) => ({ name: nameOf(record), at: Number(record['at_ms']) }));
  const from = Math.min(call.at_ms, ...times.map(({ at }) => at));
  const to = Math.max(from + 1, call.end_ms ?? Date.now(), ...times.map(({ at }) => at));
  const steps = times.map(({ name, at }, index) => ({
    name,
    at,
    end: times[index + 1]?.at ?? (call.end_ms === undefined ? to : at),
  }));
  return (
    <ol class="waterfall">
      {steps.map(({ name, at, end }, index) => (
        <li key={index}>
          <span>{name}</span>
          <span class="track">
            <i
              class={`bar ${toneOf(call.status, call.decision)}`}
              style={{
                left: `${((at - from) / (to - from)) * 100}%`,
                width: `max(3px, ${((end - at) / (to - from)) * 100}%)`,
              }}
            />
          </span>
          <span class="number">{duration(end - at)}</span>
        </li>
      ))}
    </ol>
  );
}

function nameOf(record: StoredRecord): string {
  const kind = String(record['kind']);
  const word = record['outcome'] ?? record['answer'] ?? record['phase'] ?? record['status'] ?? record['reason'];
  return visible(word === undefined ? kind : `${kind}: ${String(word).replaceAll('_', ' ')}`, 60);
}

function Changes({ detail: { change, records } }: { readonly detail: CallDetail }) {
  const result = records.find((record) => record['kind'] === 'result');
  const files = (Array.isArray(result?.['files']) ? result['files'] : []) as readonly {
    path: string;
    before: string | null;
    after: string | null;
  }[];
  if (change === undefined && files.length === 0) return null;
  return (
    <Panel
      title="Files"
      tools={
        change === undefined ? undefined : (
          <span class="chip quiet">
            {change.status} · {shortId(change.change_id)}
          </span>
        )
      }
    >
      {change === undefined
        ? files.map(({ path, before, after }) => (
            <p key={path} class="file-line">
              <code>{brief(path)}</code> {before === null ? 'created' : after === null ? 'removed' : 'changed'}
            </p>
          ))
        : change.paths.map(({ path, before, after, diff }) => (
            <details key={path} open>
              <summary>
                <code>{brief(path)}</code>{' '}
                <span class="hint">{before === 'absent' ? 'created' : after === 'absent' ? 'removed' : 'changed'}</span>
              </summary>
              {diff === undefined ? (
                <p class="hint">No text, or no longer kept.</p>
              ) : diff === '' ? (
                <p class="hint">Same content.</p>
              ) : (
                <Diff text={diff} />
              )}
            </details>
          ))}
      {change?.is_cut === true ? (
        <p class="hint">
          Cut here: <code>tool-runtime changes show {change.change_id}</code> has all of it.
        </p>
      ) : null}
    </Panel>
  );
}

function Answer({ detail: { answer, call, records } }: { readonly detail: CallDetail }) {
  if (call.status === 'running') return null;
  const data = (answer?.['data'] ?? {}) as Record<string, unknown>;
  const result = records.find((record) => record['kind'] === 'result');
  const errors = (answer?.['errors'] ?? result?.['errors'] ?? []) as readonly Record<string, unknown>[];
  const streams = ['stdout', 'stderr', 'output', 'content', 'diff'].filter(
    (name) => typeof data[name] === 'string' && data[name] !== '',
  );
  const rest = Object.fromEntries(Object.entries(data).filter(([name]) => !streams.includes(name)));
  return (
    <Panel title="Answer">
      {errors.map((error, at) => (
        <p key={at} class="word bad">
          <code>{brief(String(error['code']))}</code> {visible(String(error['message']), 2000)}
        </p>
      ))}
      {answer === undefined ? (
        <p class="hint">The host no longer keeps the answer. The journal has its digest, never its content.</p>
      ) : (
        <>
          {streams.map((name) => (
            <div key={name}>
              <h3>{name}</h3>
              {name === 'diff' ? <Diff text={String(data[name])} /> : <Output text={String(data[name])} />}
            </div>
          ))}
          {Object.keys(rest).length === 0 ? null : <Json value={rest} />}
        </>
      )}
    </Panel>
  );
}

function namesOf({ answer, records }: CallDetail): readonly ArtifactName[] {
  const result = records.find((record) => record['kind'] === 'result');
  return artifactsOf(result?.['artifacts'], (answer?.['data'] ?? {}) as Record<string, unknown>);
}

function Verify({ detail }: { readonly detail: CallDetail }) {
  const [verdict, setVerdict] = useState<{ readonly text: string; readonly isGood: boolean }>();
  const { first_seq, last_seq } = detail.call;
  const check = async (): Promise<void> => {
    const { ok, head, broken } = await host.verifyJournal();
    const isGood = ok || (broken !== undefined && broken.seq > last_seq);
    setVerdict({
      isGood,
      text: isGood ? `in an unbroken chain of ${count(head.seq)}` : `broken at ${broken?.seq}: ${broken?.reason}`,
    });
  };
  return (
    <span class="panel-tools">
      <span class="hint">
        {count(first_seq)}–{count(last_seq)} of {count(detail.head)}
      </span>
      {verdict === undefined ? null : (
        <span class={`chip ${verdict.isGood ? 'good' : 'bad'}`} role="status">
          {verdict.text}
        </span>
      )}
      <button type="button" class="small" onClick={() => void check()}>
        Verify
      </button>
    </span>
  );
}

/** Arguments are on record as a summary: what it has in full is copied, the rest is marked. */
function argsOf({ call, records }: CallDetail): RecordedArgs {
  const asked = records.find((record) => record['kind'] === 'requested');
  return readSummary(String(asked?.['args_summary'] ?? call.summary));
}

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

function Copies({ detail }: { readonly detail: CallDetail }) {
  const { tool, session_id } = detail.call;
  const { args, isWhole } = argsOf(detail);
  const request = JSON.stringify({
    type: 'ToolRequest',
    session_id,
    request_id: 'again-1',
    timestamp: 1,
    tool,
    args,
  });
  const params = { name: tool, arguments: args };
  const mcp = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, null, 2);
  const title = isWhole ? 'Copy this call' : 'Copy this call; what the record does not have is marked FILL IN';
  return (
    <span class="segmented" role="group" aria-label="Copy as" title={title}>
      <Copy label="CLI" text={`npx tool-runtime call ${quote(tool)} ${quote(JSON.stringify(args))}`} />
      <Copy
        label="curl"
        text={`curl -s ${quote(`${location.origin}/v1/call`)} -H "Authorization: Bearer $TOKEN" --json ${quote(request)}`}
      />
      <Copy label="MCP" text={mcp} />
    </span>
  );
}
