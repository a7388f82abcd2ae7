/** The catalogue: what each tool takes, may do and costs, why others are hidden, mounted servers, and a form to try one. */
import { useState } from 'preact/hooks';
import { brief, count, duration, visible } from '../format.ts';
import { host, may } from '../host.ts';
import { registryTurn } from '../live.ts';
import { addressOf, choice, choose } from '../location.ts';
import { Chip, Empty, Facts, Head, Panel, Problem } from '../parts/bits.tsx';
import { FilterBar } from '../parts/filter-bar.tsx';
import { type Schema, SchemaForm } from '../parts/schema-form.tsx';
import { Json, Output } from '../parts/text-blocks.tsx';
import { callTool, type Tried } from '../trial-calls.ts';
import { useLoaded } from '../use-loaded.ts';
import { MountedServers } from './mounted-servers.tsx';

interface Tool {
  readonly name: string;
  readonly title?: string;
  readonly category?: string;
  readonly summary?: string;
  readonly policy_notes?: string;
  readonly kind?: string;
  readonly side_effect_level?: string;
  readonly effect?: string;
  readonly risk?: string;
  readonly idempotent?: boolean;
  readonly timeout_ms?: number;
  readonly args_schema?: Schema;
  readonly data_schema?: Schema;
}

/** About four characters make a token; what a model is shown is the name, the summary and the schema. */
const tokensOf = ({ name, summary, args_schema }: Tool): number =>
  Math.ceil(JSON.stringify({ name, summary, args_schema }).length / 4);

export function Tools() {
  const loaded = useLoaded(() => host.tools(), [registryTurn.value]);
  const words = choice('q').toLowerCase();
  const tools = (loaded.value?.tools ?? []) as readonly Tool[];
  const shown = tools.filter(({ name, summary = '', category = '' }) =>
    `${name} ${summary} ${category}`.toLowerCase().includes(words),
  );
  const chosen = tools.find(({ name }) => name === choice('tool'));
  const hidden = loaded.value?.hidden ?? [];
  const total = tools.reduce((sum, tool) => sum + tokensOf(tool), 0);
  return (
    <>
      <Head title="Tools">
        <span class="chip quiet">
          {count(tools.length)} tools · about {count(total)} tokens
        </span>
      </Head>
      <MountedServers />
      <FilterBar hint="Names and summaries   ( / )" />
      {loaded.problem === undefined ? null : <Problem problem={loaded.problem} again={loaded.again} />}
      <div class="tools">
        <div class="tool-list">
          {shown.length === 0 && loaded.value !== undefined ? (
            <Empty title="No tool matches">Take words out of the filter.</Empty>
          ) : null}
          <ul aria-label="Tools">
            {shown.map((tool) => (
              <li key={tool.name}>
                <button
                  type="button"
                  class="tool-row"
                  aria-pressed={tool === chosen}
                  onClick={() => choose({ tool: tool.name })}
                >
                  <span class="tool">{visible(tool.name, 80)}</span>
                  <span
                    class={`chip ${tool.side_effect_level === 'read_only' || tool.side_effect_level === 'none' ? 'good' : 'warn'}`}
                  >
                    {visible(tool.side_effect_level ?? '', 30).replaceAll('_', ' ')}
                  </span>
                  <span class="summary">{brief(tool.summary ?? '')}</span>
                </button>
              </li>
            ))}
          </ul>
          {hidden.length === 0 ? null : (
            <details>
              <summary>{count(hidden.length)} hidden, and why</summary>
              <ul class="hidden-tools">
                {hidden.map(({ name, reason, registry }) => (
                  <li key={name}>
                    <code>{visible(name, 80)}</code> {brief(reason)}{' '}
                    {typeof registry === 'string' ? <code>{brief(registry)}</code> : null}
                  </li>
                ))}
              </ul>
            </details>
          )}
        </div>
        {chosen === undefined ? (
          <Empty title="Choose a tool">Its arguments, what it may do, and a form to try it show up here.</Empty>
        ) : (
          <ToolDetail key={chosen.name} tool={chosen} />
        )}
      </div>
    </>
  );
}

function ToolDetail({ tool }: { readonly tool: Tool }) {
  return (
    <div class="tool-detail">
      <Panel title={visible(tool.title ?? tool.name, 120)}>
        <p>{visible(tool.summary ?? '', 2000)}</p>
        {tool.policy_notes === undefined ? null : <p class="hint">{visible(tool.policy_notes, 2000)}</p>}
        <Facts
          rows={[
            ['name', <code>{visible(tool.name, 80)}</code>],
            ['kind', visible(tool.kind ?? '', 40)],
            ['effect', visible(tool.effect ?? '', 40)],
            ['risk', visible(tool.risk ?? '', 40)],
            ['safe to repeat', tool.idempotent === true ? 'yes' : 'no'],
            tool.timeout_ms === undefined ? undefined : ['time limit', duration(tool.timeout_ms)],
            ['cost', `about ${count(tokensOf(tool))} tokens in a listing`],
          ]}
        />
        <a href={addressOf('journal', '', { q: `tool:${tool.name}` })}>Its records</a>
      </Panel>
      <TryIt tool={tool} />
      <details>
        <summary>Schemas</summary>
        <Json value={{ args: tool.args_schema, data: tool.data_schema }} />
      </details>
    </div>
  );
}

function TryIt({ tool }: { readonly tool: Tool }) {
  const [tried, setTried] = useState<Tried>();
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  if (!may('call')) return <p class="notice late">A viewer sees tools and does not try them.</p>;
  const run = async (args: Record<string, never>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      setTried(await callTool(tool.name, args));
    } catch (thrown) {
      setProblem(thrown);
    }
    setBusy(false);
  };
  return (
    <Panel title="Try it: same policy, same journal">
      <SchemaForm schema={tool.args_schema ?? {}} isBusy={isBusy} onRun={(args) => void run(args)} />
      {problem === undefined ? null : <Problem problem={problem} />}
      {tried === undefined ? null : (
        <div role="status">
          <Chip word={tried.ok ? 'completed' : 'failed'} />
          <Output text={JSON.stringify(tried.answer, null, 2)} />
        </div>
      )}
    </Panel>
  );
}
