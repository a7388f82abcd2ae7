/** Cassettes for the runtimes of one process, one after the other, and the answers that its sessions get. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolResponse } from '@tool-runtime/protocol';
import type { CassetteMode, CassetteOptions, ChildSession, Session } from '@tool-runtime/sdk';

const { TAPE_FOLDER: folder = '', TAPE_MODE: mode = 'record' } = process.env;
let opened = 0;

export function nextTape(): { readonly cassette: CassetteOptions; readonly number: number } {
  opened += 1;
  const file = join(folder, `${opened}.jsonl`);
  return { cassette: { mode: mode as CassetteMode, file, applyFiles: true }, number: opened };
}

/** The same session; what it answers is also written to a file, without ids and times of this run. */
export function noting<Kind extends Session>(session: Kind, number: number): Kind {
  const note = (response: ToolResponse): void => {
    const { type: _, tool: __, request_id: ___, duration_ms: ____, waited_ms: _____, ...answer } = response;
    appendFileSync(join(folder, `${number}.answers.jsonl`), `${JSON.stringify(answer)}\n`);
  };
  const call = async (...words: Parameters<Session['call']>) => {
    const response = await session.call(...words);
    note(response as ToolResponse);
    return response;
  };
  const openChild = async (...words: Parameters<Session['openChild']>): Promise<ChildSession> =>
    noting(await session.openChild(...words), number);
  return { ...session, call, openChild };
}
