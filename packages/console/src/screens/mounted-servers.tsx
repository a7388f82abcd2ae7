/** Mounted MCP servers: which of their tools are approved, and a review of those that wait. */
import type { MountedServer, WaitingTools } from '@tool-runtime/protocol';
import { useState } from 'preact/hooks';
import { brief, count, visible } from '../format.ts';
import { host, may } from '../host.ts';
import { registryTurn } from '../live.ts';
import { Empty, Panel, Problem } from '../parts/bits.tsx';
import { Diff } from '../parts/text-blocks.tsx';
import { useLoaded } from '../use-loaded.ts';

type ToolState = MountedServer['tools'][number]['state'];
const TONES: Readonly<Record<ToolState, string>> = { approved: 'good', new: 'warn', changed: 'warn', refused: 'bad' };
/** A server may list hundreds; the ones that need attention come first. */
const MOST = 100;
const ORDER: readonly ToolState[] = ['changed', 'new', 'refused', 'approved'];

export function MountedServers() {
  const loaded = useLoaded(() => host.mcpServers(), [registryTurn.value]);
  const servers = loaded.value?.servers ?? [];
  if (loaded.problem !== undefined) return <Problem problem={loaded.problem} again={loaded.again} />;
  if (servers.length === 0) return null;
  return (
    <Panel title="Mounted servers">
      <ul class="servers">
        {servers.map((server) => (
          <Server key={server.server} server={server} onChange={loaded.again} />
        ))}
      </ul>
    </Panel>
  );
}

interface ServerProps {
  readonly server: MountedServer;
  onChange(): void;
}

function Server({ server, onChange }: ServerProps) {
  const [review, setReview] = useState<WaitingTools>();
  const [problem, setProblem] = useState<unknown>();
  const [said, setSaid] = useState('');
  const [isBusy, setBusy] = useState(false);
  const name = server.server;
  const run = async (work: () => Promise<string>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      setSaid(await work());
    } catch (thrown) {
      setSaid('');
      setProblem(thrown);
    }
    setBusy(false);
    onChange();
  };
  const look = () => run(async () => show(await host.waitingTools(name)));
  const refresh = () => run(async () => show(await host.refreshMcpServer(name)));
  const approve = (tools: WaitingTools['waiting']) =>
    run(async () => {
      try {
        await host.approveTools(name, { tools: tools.map(({ tool, digest }) => ({ tool, digest })) });
        return `Approved: ${tools.map(({ tool }) => brief(tool)).join(', ')}. New sessions may use it.`;
      } finally {
        // Also after a refusal: what waits is another version by then.
        setReview(await host.waitingTools(name));
      }
    });
  function show(found: WaitingTools): string {
    setReview(found);
    return found.total === 0 ? 'Nothing waits for approval.' : '';
  }
  const waiting = server.tools.filter(({ state }) => state === 'new' || state === 'changed').length;
  return (
    <li class="server" aria-label={`Server ${name}`}>
      <div class="server-head">
        <strong>{visible(name, 80)}</strong>
        <span class={`chip ${server.is_running ? 'good' : 'quiet'}`}>
          {server.is_running ? 'running' : 'not running'}
        </span>
        {waiting === 0 ? null : <span class="chip warn">{count(waiting)} waiting</span>}
        <code class="server-target">{brief(server.target)}</code>
        {server.registry === undefined ? null : <code class="hint">{brief(server.registry)}</code>}
        <span class="panel-tools">
          {may('approve') ? (
            <button type="button" class="small" disabled={isBusy} onClick={() => void refresh()}>
              Ask for its tools
            </button>
          ) : null}
          {waiting === 0 ? null : (
            <button type="button" class="small" disabled={isBusy} onClick={() => void look()}>
              Review {count(waiting)} waiting
            </button>
          )}
        </span>
      </div>
      <PinStates server={server} />
      {problem === undefined ? null : <Problem problem={problem} />}
      <p role="status" class="hint">
        {isBusy ? 'One moment…' : said}
      </p>
      {review === undefined || review.total === 0 ? null : (
        <Review review={review} isBusy={isBusy} onApprove={(tools) => void approve(tools)} />
      )}
    </li>
  );
}

function PinStates({ server: { tools } }: { readonly server: MountedServer }) {
  if (tools.length === 0) {
    return <Empty title="Its tools are not known yet">An approver asks for them with the button above.</Empty>;
  }
  const sorted = tools.toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
  return (
    <ul class="pins" aria-label="State of its tools">
      {sorted.slice(0, MOST).map(({ tool, name, state, reason, digest }) => (
        <li key={tool} title={digest}>
          <span class={`chip ${TONES[state]}`}>{state}</span> <span class="tool">{visible(tool, 80)}</span>
          {name === undefined || name === tool ? null : <span class="hint"> as {visible(name, 80)}</span>}
          {reason === undefined ? null : <span class="hint"> {brief(reason)}</span>}
        </li>
      ))}
      {sorted.length > MOST ? <li class="hint">and {count(sorted.length - MOST)} more</li> : null}
    </ul>
  );
}

interface ReviewProps {
  readonly review: WaitingTools;
  readonly isBusy: boolean;
  onApprove(tools: WaitingTools['waiting']): void;
}

/** Every definition is shown before the button that approves it. */
function Review({ review: { waiting, total }, isBusy, onApprove }: ReviewProps) {
  return (
    <div class="review">
      {waiting.map((one) => (
        <section key={one.tool} aria-label={`${one.state} tool ${brief(one.tool)}`}>
          <h3>
            <span class="chip warn">{one.state}</span> <span class="tool">{visible(one.tool, 120)}</span>
          </h3>
          <Diff text={one.diff} />
          {may('approve') ? (
            <button type="button" class="small" disabled={isBusy} onClick={() => onApprove([one])}>
              Approve this definition
            </button>
          ) : null}
        </section>
      ))}
      {total > waiting.length ? (
        <p class="hint">{count(total - waiting.length)} more follow when these are approved.</p>
      ) : null}
      {may('approve') && waiting.length > 1 ? (
        <button type="button" class="primary" disabled={isBusy} onClick={() => onApprove(waiting)}>
          Approve all {count(waiting.length)} shown
        </button>
      ) : null}
    </div>
  );
}
