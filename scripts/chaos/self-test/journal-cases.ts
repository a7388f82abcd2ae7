/** The journal against what clients were told, and the wire itself. */
import type { ToolResponse } from '@tool-runtime/protocol';
import type { StoredRecord } from '@tool-runtime/sdk';
import { CallBook } from '../../../packages/host/test/load/call-book.ts';
import { judgeJournal, type ToldCall } from '../oracle/judge-journal.ts';
import type { OracleCase } from '../self-test.ts';

const REQUESTED = { kind: 'requested', request_id: 'request-1', tool: 'file_write' };
const INTENT = { kind: 'intent' };
const RESULT = { kind: 'result', status: 'completed' };
const RECOVERY = { kind: 'recovery' };
const DENIED = { kind: 'decision', outcome: 'deny' };

const TOLD: ToldCall = {
  requestId: 'request-1',
  sessionId: 'session-1',
  transport: 'http',
  state: 'answered',
  outcome: 'ok',
  tool: 'file_write',
};
const LOST: ToldCall = {
  requestId: 'request-1',
  sessionId: 'session-1',
  transport: 'http',
  state: 'lost',
  tool: 'file_write',
};

function records(...kinds: object[]): readonly StoredRecord[] {
  const ids = { call_id: 'call-1', session_id: 'session-1' };
  return kinds.map((record, at) => ({ seq: at + 1, ...ids, ...record }) as unknown as StoredRecord);
}

interface JournalCase {
  readonly name: string;
  readonly finds: RegExp;
  readonly told: ToldCall;
  readonly right: readonly object[];
  readonly wrong: readonly object[];
}

const RECORDED: readonly JournalCase[] = [
  {
    name: 'an acknowledged call that is not on record',
    finds: /not on record/,
    told: TOLD,
    right: [REQUESTED, INTENT, RESULT],
    wrong: [],
  },
  {
    name: 'a success that is recorded as a failure',
    finds: /acknowledged as done, recorded otherwise/,
    told: TOLD,
    right: [REQUESTED, INTENT, RESULT],
    wrong: [REQUESTED, INTENT, { ...RESULT, status: 'failed' }],
  },
  {
    name: 'a failure that is recorded as a success',
    finds: /acknowledged as failed, recorded otherwise/,
    told: { ...TOLD, outcome: 'failed' },
    right: [REQUESTED, DENIED],
    wrong: [REQUESTED, INTENT, RESULT],
  },
  {
    name: 'a call that ran twice',
    finds: /ran 2 times/,
    told: TOLD,
    right: [REQUESTED, INTENT, RESULT],
    wrong: [REQUESTED, INTENT, INTENT, RESULT],
  },
  {
    name: 'an unfinished intent that nobody reported',
    finds: /was not reported/,
    told: LOST,
    right: [REQUESTED, INTENT, RECOVERY],
    wrong: [REQUESTED, INTENT],
  },
  {
    name: 'a call over MCP that is not on record',
    finds: /over MCP/,
    told: { ...TOLD, transport: 'mcp' },
    right: [{ ...REQUESTED, request_id: 'mcp-1' }, INTENT, RESULT],
    wrong: [{ ...REQUESTED, request_id: 'mcp-1' }, DENIED],
  },
  {
    name: 'a call under another session',
    finds: /another session/,
    told: TOLD,
    right: [REQUESTED, INTENT, RESULT],
    wrong: [{ ...REQUESTED, session_id: 'session-2' }, INTENT, RESULT],
  },
];

export const journalCases: readonly OracleCase[] = [
  ...RECORDED.map(
    ({ name, finds, told, right, wrong }): OracleCase => ({
      name,
      finds,
      judge: ({ violations }, broken) => void judgeJournal(records(...(broken ? wrong : right)), [told], violations),
    }),
  ),
  {
    name: 'a call that is never answered',
    finds: /never answered/,
    judge: ({ violations }, broken) => {
      const told: ToldCall = broken ? { ...LOST, state: 'open' } : LOST;
      judgeJournal(records(REQUESTED, INTENT, RECOVERY), [told], violations);
    },
  },
  {
    name: 'a second answer',
    finds: /a second one/,
    async judge({ violations }, broken) {
      const book = new CallBook(violations);
      const sender = { transport: 'http', sessionId: 'session-1', send() {} } as const;
      const made = book.make({ kind: 'read', tool: 'file_read', args: {}, judge: () => undefined }, sender);
      for (let times = 0; times < (broken ? 2 : 1); times++) book.hear(JSON.stringify(ANSWER));
      await made;
    },
  },
];

const ANSWER: ToolResponse = {
  type: 'ToolResponse',
  ok: true,
  tool: 'file_read',
  request_id: 'request-1',
  duration_ms: 1,
  data: null,
  errors: [],
  warnings: [],
};
