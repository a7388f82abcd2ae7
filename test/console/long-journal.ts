/** A journal of many records, written by the store itself, so that its chain is whole. */
import { openSqliteJournal, openStateFolder } from '@tool-runtime/sdk/parts';

const PER_CALL = 4;
const TOOLS = ['file_read', 'grep', 'file_edit', 'shell_exec', 'curl'];

/** `records` is rounded down to whole calls. Every tenth call was denied. */
export async function writeLongJournal(state: string, records: number): Promise<void> {
  const journal = openSqliteJournal(openStateFolder(state));
  const start = Date.now() - 3_600_000;
  for (let call = 0; call * PER_CALL < records; call += 50) {
    const count = Math.min(50, Math.ceil(records / PER_CALL) - call);
    await journal.append(Array.from({ length: count }, (_, at) => recordsOf(call + at, start)).flat());
  }
  await journal.close();
}

function recordsOf(index: number, start: number) {
  const tool = TOOLS[index % TOOLS.length] ?? 'grep';
  const base = { call_id: `call-${index}`, session_id: `sess-${index % 7}`, at_ms: start + index * 100 };
  const isDenied = index % 10 === 0;
  const asked = {
    ...{ ...base, kind: 'requested' as const, request_id: `r${index}`, tool, args_hash: 'h' },
    ...{ args_summary: `path="src/file-${index}.ts"`, actor: 'main', client: 'agent' },
  };
  const decided = {
    ...base,
    kind: 'decision' as const,
    outcome: isDenied ? ('deny' as const) : ('allow' as const),
    gate: 'policy',
    code: 'policy',
  };
  const intent = {
    ...base,
    kind: 'intent' as const,
    tool,
    args_hash: 'h',
    retry_safe: true,
    instance: 'none',
    effect: { kind: 'read' as const },
  };
  const result = {
    ...{
      ...base,
      kind: 'result' as const,
      tool,
      args_hash: 'h',
      status: isDenied ? ('denied_before_execution' as const) : ('completed' as const),
    },
    ...{
      start_ts: base.at_ms,
      end_ts: base.at_ms + 5,
      duration_ms: 5,
      bytes: 10,
      files: [],
      errors: [],
      effect: { kind: 'read' as const },
    },
  };
  return [asked, decided, intent, result] as unknown as Parameters<ReturnType<typeof openSqliteJournal>['append']>[0];
}
