/** Large outputs that a call kept. They are opened with `artifact_read`, like everyone opens them, so its policy holds. */
import { useState } from 'preact/hooks';
import { bytes, visible } from '../format.ts';
import { may, messageOf } from '../host.ts';
import { callTool } from '../trial-calls.ts';
import { Panel } from './bits.tsx';
import { Output } from './text-blocks.tsx';

export interface ArtifactName {
  readonly handle: string;
  /** The field of the answer that has the handle, where the answer is still kept. */
  readonly field: string | undefined;
}

const HANDLE = /^artifact:[0-9a-f]{32}$/;
const PAGE_BYTES = 128 * 1024;

/** Those on record, named after the fields of the answer. */
export function artifactsOf(recorded: unknown, data: Readonly<Record<string, unknown>>): readonly ArtifactName[] {
  const handles = Array.isArray(recorded) ? recorded.filter((one) => typeof one === 'string' && HANDLE.test(one)) : [];
  return handles.map((handle: string) => ({
    handle,
    field: Object.entries(data).find(([, value]) => value === handle)?.[0],
  }));
}

export function Artifacts({ names }: { readonly names: readonly ArtifactName[] }) {
  if (names.length === 0) return null;
  return (
    <Panel title="Artifacts">
      {may('call') ? null : <p class="hint">An approver can open them; that is a call of its own.</p>}
      {names.map((name) => (
        <Artifact key={name.handle} name={name} />
      ))}
    </Panel>
  );
}

interface Read {
  readonly text: string;
  readonly offset: number;
  readonly next: number | null;
  readonly total: number;
}

function Artifact({ name: { handle, field } }: { readonly name: ArtifactName }) {
  const [read, setRead] = useState<Read>();
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const name = field?.replace(/_artifact$/, '') ?? 'artifact';
  const open = async (offset: number): Promise<void> => {
    setBusy(true);
    try {
      setRead(await readPage(handle, offset));
      setProblem('');
    } catch (thrown) {
      setProblem(messageOf(thrown));
    }
    setBusy(false);
  };
  const button = (label: string, offset: number | null | undefined) =>
    may('call') && typeof offset === 'number' ? (
      <button type="button" class="small" disabled={isBusy} onClick={() => void open(offset)}>
        {label}
      </button>
    ) : null;
  return (
    <section class="artifact" aria-label={`Artifact ${name}`}>
      <p class="artifact-head">
        <strong>{visible(name, 60)}</strong>
        <code>{handle}</code>
        {read === undefined ? null : (
          <span class="hint">
            {bytes(read.total)} · {isText(read.text) ? 'text' : 'not text'}
            {read.offset === 0 && read.next === null
              ? ''
              : ` · from ${bytes(read.offset)} to ${bytes(read.next ?? read.total)}`}
          </span>
        )}
        <span class="panel-tools">
          {read === undefined ? button('Open', 0) : null}
          {button('First page', (read?.offset ?? 0) > 0 ? 0 : undefined)}
          {button('Next page', read?.next)}
        </span>
      </p>
      {problem === '' ? null : <p class="word bad">{visible(problem, 2000)}</p>}
      {read === undefined ? null : <Output key={read.offset} text={read.text} />}
    </section>
  );
}

async function readPage(handle: string, offset: number): Promise<Read> {
  const { ok, answer } = await callTool('artifact_read', { artifact: handle, offset, max_bytes: PAGE_BYTES });
  const data = ok && 'data' in answer ? (answer.data as Record<string, unknown> | null) : null;
  if (data === null) throw new Error(refusalOf(answer));
  const next = data['next_offset'];
  return {
    text: String(data['content'] ?? ''),
    offset,
    next: typeof next === 'number' ? next : null,
    total: Number(data['total_bytes'] ?? 0),
  };
}

function refusalOf(answer: unknown): string {
  const { errors, message } = answer as { errors?: readonly { message?: unknown }[]; message?: unknown };
  return String(errors?.[0]?.message ?? message ?? 'It was not read');
}

/** Bytes that are not text become many replacement characters. */
function isText(text: string): boolean {
  const start = text.slice(0, 4096);
  return start.split('\uFFFD').length - 1 <= start.length / 50 && !start.includes('\0');
}
