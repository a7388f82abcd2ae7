/** What readers of the journal ask a host for: one index for each workspace, made when it is first wanted. */
import { type CallDetail, type Families, type JournalState, ToolError } from '@tool-runtime/protocol';
import type { Runtime } from '@tool-runtime/sdk';
import { callRow, createPageReader, type PageReader } from './read-pages.ts';
import { createRecordIndex, type RecordIndex } from './record-index.ts';

export interface RecordWorkspace {
  readonly name: string;
  readonly path: string;
  readonly runtime: Runtime;
}

export interface RecordDesk {
  /** Up to date with calls, or with records too. */
  pages(workspace: RecordWorkspace, archived: boolean, what: 'calls' | 'records'): Promise<PageReader>;
  /** Throws E_POLICY, reason `unknown_call`. */
  detail(workspace: RecordWorkspace, callId: string): Promise<Omit<CallDetail, 'answer'>>;
  /** The text of a page that is no older than wanted, or a new one. */
  text(question: string, maxAgeMs: number, make: () => Promise<object>): Promise<string>;
  families(workspace: RecordWorkspace, limit: number): Promise<Families>;
  state(workspace: RecordWorkspace): Promise<Omit<JournalState, 'workspaces'>>;
}

interface Opened {
  readonly index: RecordIndex;
  readonly pages: PageReader;
}

/** Answers that are kept for others who ask the same a moment later. */
const KEPT_TEXTS = 32;

export function createRecordDesk(): RecordDesk {
  const opened = new Map<string, Opened>();
  const texts = new Map<string, { readonly at: number; readonly text: Promise<string> }>();

  async function open(workspace: RecordWorkspace, archived: boolean, what: 'calls' | 'records'): Promise<Opened> {
    const key = `${archived} ${workspace.path}`;
    const known = opened.get(key);
    const index = known?.index ?? createRecordIndex({ runtime: () => workspace.runtime, archived });
    const entry = known ?? { index, pages: createPageReader(index, workspace.name) };
    opened.set(key, entry);
    await (what === 'calls' ? entry.index.catchUp() : entry.index.catchUpRows());
    return entry;
  }

  return {
    pages: async (workspace, archived, what) => (await open(workspace, archived, what)).pages,
    async detail(workspace, callId) {
      const recent = (await open(workspace, false, 'calls')).index;
      const archived = recent.call(callId) === undefined;
      const index = archived ? (await open(workspace, true, 'calls')).index : recent;
      const call = index.call(callId);
      if (call === undefined) throw unknownCall();
      const records = workspace.runtime.records({ after: call.first_seq - 1, limit: call.count, callId, archived });
      const change = await workspace.runtime.changeOf(call.session_id, callId);
      return {
        call: callRow(call),
        workspace: workspace.name,
        records: Array.from(records, (record) => ({ ...record }) as unknown as CallDetail['records'][number]),
        ...(change === undefined ? {} : { change }),
        head: index.head,
      };
    },
    text(question, maxAgeMs, make) {
      const known = texts.get(question);
      if (known !== undefined && performance.now() - known.at < maxAgeMs) return known.text;
      const text = make().then((page) => JSON.stringify(page));
      if (maxAgeMs === 0) return text;
      texts.delete(question);
      texts.set(question, { at: performance.now(), text });
      for (const oldest of texts.keys()) if (texts.size > KEPT_TEXTS) texts.delete(oldest);
      return text;
    },
    async families(workspace, limit) {
      const { index } = await open(workspace, false, 'calls');
      const all = index.families.families(workspace.runtime.instances());
      return { workspace: workspace.name, total: all.length, families: all.slice(-limit).reverse() };
    },
    async state(workspace) {
      const { rows, calls } = (await open(workspace, false, 'records')).index;
      const [first, last] = [rows[0], rows.at(-1)];
      return {
        workspace: workspace.name,
        head: workspace.runtime.head(),
        records: rows.length,
        calls: calls.length,
        ...(first === undefined ? {} : { first_seq: first.seq, first_at_ms: first.at_ms }),
        ...(last === undefined ? {} : { last_at_ms: last.at_ms }),
      };
    },
  };
}

function unknownCall(): ToolError {
  return new ToolError('E_POLICY', 'The journal has no such call', {
    details: { reason: 'unknown_call', next: 'look at GET /v1/calls; old calls may have been pruned' },
  });
}
