/** The registry in force, value by value with its line, and a tester: what would the gates say to this call? */
import type { JsonObject, PolicyExplanation, RegistryView } from '@tool-runtime/protocol';
import { useEffect, useState } from 'preact/hooks';
import { brief, count, visible } from '../format.ts';
import { host, may } from '../host.ts';
import { registryTurn } from '../live.ts';
import { choice } from '../location.ts';
import { Chip, Empty, Head, Panel, Problem } from '../parts/bits.tsx';
import { FilterBar } from '../parts/filter-bar.tsx';
import { useLoaded } from '../use-loaded.ts';

export function Policy() {
  const loaded = useLoaded(() => host.registry(), [registryTurn.value]);
  const view = loaded.value;
  return (
    <>
      <Head title="Policy">
        {view === undefined ? null : <span class="chip quiet">fingerprint {view.fingerprint.slice(0, 12)}</span>}
      </Head>
      {loaded.problem === undefined ? null : <Problem problem={loaded.problem} again={loaded.again} />}
      {view?.warnings.map((warning) => (
        <p key={warning} class="notice late">
          {visible(warning, 2000)}
        </p>
      ))}
      <Tester />
      <FilterBar hint="Names, values or lines of the registry   ( / )" />
      {view === undefined ? null : <Values view={view} />}
    </>
  );
}

function Values({ view }: { readonly view: RegistryView }) {
  const words = choice('q').toLowerCase().split(/\s+/);
  const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  const shown = view.values.filter(({ path, value, origin = 'default' }) => {
    const all = `${path} ${text(value)} ${origin}`.toLowerCase();
    return words.every((word) => all.includes(word));
  });
  const written = view.values.filter(({ origin }) => origin !== undefined).length;
  return (
    <Panel title={`${count(shown.length)} values, ${count(written)} of them written in the registry`}>
      {shown.length === 0 ? <Empty title="No value matches">Take words out of the filter.</Empty> : null}
      <div class="scroll" role="region" aria-label="Values" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>key</th>
              <th>value</th>
              <th>from</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ path, value, origin }) => (
              <tr key={path}>
                <td>
                  <code>{visible(path, 200)}</code>
                </td>
                <td>{brief(text(value))}</td>
                <td>{origin === undefined ? <span class="hint">default</span> : <code>{brief(origin)}</code>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}

interface Trial {
  readonly title: string;
  readonly said: PolicyExplanation;
}

/** Nothing runs and nothing is recorded. */
async function judge(tool: string, args: string, registry: string): Promise<readonly Trial[]> {
  const call = { tool, args: JSON.parse(args) as JsonObject };
  const found: Trial[] = [{ title: 'under the registry in force', said: await host.explainPolicy(call) }];
  if (registry.trim() === '') return found;
  return [...found, { title: 'under the other registry', said: await host.explainPolicy({ ...call, registry }) }];
}

function Tester() {
  const [tool, setTool] = useState(choice('tool') || 'fs_delete');
  const [args, setArgs] = useState(choice('args') || '{ "path": "README.md" }');
  const [registry, setRegistry] = useState('');
  const [trials, setTrials] = useState<readonly Trial[]>([]);
  const [problem, setProblem] = useState<unknown>();
  const run = async (): Promise<void> => {
    setProblem(undefined);
    try {
      setTrials(await judge(tool, args, registry));
    } catch (thrown) {
      setTrials([]);
      setProblem(thrown);
    }
  };
  // A link from a call has brought the call along.
  useEffect(() => {
    if (choice('args') !== '' && may('call')) void run();
  }, []);
  if (!may('call')) return <p class="notice late">The tester proposes a call, which a viewer may not.</p>;
  return (
    <Panel title="Tester: nothing runs, nothing is recorded">
      <form
        class="tester"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <label>
          Tool
          <input value={tool} onInput={(event) => setTool(event.currentTarget.value)} />
        </label>
        <label>
          Arguments, JSON
          <textarea rows={3} value={args} onInput={(event) => setArgs(event.currentTarget.value)} />
        </label>
        <label>
          Another registry to compare with (YAML)
          <textarea
            rows={3}
            value={registry}
            placeholder={'version: 1\nallowed_tools: [file_read]'}
            onInput={(event) => setRegistry(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary">
          Ask the gates
        </button>
      </form>
      {problem === undefined ? null : <Problem problem={problem} />}
      <div class="columns">
        {trials.map(({ title, said }) => (
          <Verdict key={title} title={title} said={said} />
        ))}
      </div>
    </Panel>
  );
}

function Verdict({ title, said }: Trial) {
  return (
    <div class="verdict" role="status">
      <h3>{title}</h3>
      <p>
        <Chip word={said.decision} decision={said.decision} /> <code>{brief(said.code)}</code>
      </p>
      <ul class="gates">
        {said.gates.map(({ gate, answer, message, rule, registry }) => (
          <li key={gate}>
            <Chip word={answer} decision={answer} />
            <span>
              <strong>{visible(gate, 60)}</strong> {rule === undefined ? null : <code>{brief(rule)}</code>}{' '}
              {message === undefined ? null : visible(message, 1000)}{' '}
              {registry === undefined ? null : <code>{brief(registry)}</code>}
            </span>
          </li>
        ))}
      </ul>
      {said.change === null ? null : (
        <p class="hint">
          Smallest change that turns it into {said.change.decision}: <code>{visible(said.change.text, 1000)}</code>
        </p>
      )}
    </div>
  );
}
