/** The fleet of this host: its servers, the streams they keep, and its hosts with what each holds. */
import type { FleetState } from '@tool-runtime/protocol';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { count, visible } from '../format.ts';
import { host } from '../host.ts';
import { Head, Panel, Problem } from '../parts/bits.tsx';
import { useLoaded } from '../use-loaded.ts';

/** Nothing tells of other hosts, so they are asked for. */
const LOOK_MS = 5000;

export function Fleet() {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const looking = setInterval(() => setTurn((old) => old + 1), LOOK_MS);
    return () => clearInterval(looking);
  }, []);
  const { value: state, problem, again } = useLoaded(() => host.fleet(), [turn]);
  return (
    <>
      <Head title="Fleet" />
      {problem === undefined ? null : <Problem problem={problem} again={again} />}
      {state === undefined ? problem === undefined && <p class="hint">Loading…</p> : <State state={state} />}
    </>
  );
}

function State({ state: { host: own, servers, streams, hosts, unread } }: { readonly state: FleetState }) {
  const name = (text: string) => visible(text, 80);
  return (
    <>
      {unread.length === 0 ? null : (
        <p class="problem" role="alert">
          Not read, as they do not answer now: {unread.map(name).join(', ')}
        </p>
      )}
      <Listed
        title="Hosts"
        heads={['host', 'zone', 'holds', 'serves', 'records to ship', 'version', 'pid']}
        rows={hosts.map((one) => [
          `${name(one.host)}${one.host === own ? ' (this one)' : ''}`,
          name(one.zone),
          one.held.map(name).join(', ') || 'nothing',
          one.workspaces.map(name).join(', '),
          count(one.unshipped),
          name(one.version),
          String(one.pid),
        ])}
      />
      <Listed
        title="Servers that answer"
        heads={['server', 'address', 'version', 'records', 'pid']}
        rows={servers.map(({ name: server, address, version, sync_always, pid }) => [
          name(server),
          name(address),
          name(version),
          sync_always ? <Mark tone="good">on disk before an answer</Mark> : <Mark tone="bad">not synced</Mark>,
          pid === undefined ? 'elsewhere' : String(pid),
        ])}
      />
      <Listed
        title="Streams"
        heads={['stream', 'leader', 'replicas', 'messages']}
        rows={streams.map(({ name: stream, leader, replicas, behind, messages }) => [
          name(stream),
          leader === undefined && replicas > 1 ? <Mark tone="bad">none</Mark> : name(leader ?? 'the one server'),
          behind.length === 0 ? count(replicas) : <Mark tone="warn">behind: {behind.map(name).join(', ')}</Mark>,
          messages === undefined ? 'unknown' : count(messages),
        ])}
      />
    </>
  );
}

function Mark({ tone, children }: { readonly tone: string; readonly children: ComponentChildren }) {
  return <span class={`chip ${tone}`}>{children}</span>;
}

interface ListedProps {
  readonly title: string;
  readonly heads: readonly string[];
  /** The first cell of each names it. */
  readonly rows: readonly (readonly [string, ...ComponentChildren[]])[];
}

function Listed({ title, heads, rows }: ListedProps) {
  return (
    <Panel title={title}>
      <div class="scroll" role="region" aria-label={title} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {heads.map((head) => (
                <th key={head}>{head}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((cells) => (
              <tr key={cells[0]}>
                {cells.map((cell, at) => (
                  <td key={heads[at]}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
