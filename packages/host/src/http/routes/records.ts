/** Routes that read the journal: pages, one call in full, families, export, and whether the chain is whole. */
import {
  callDetailSchema,
  callPageSchema,
  familiesSchema,
  type JsonObject,
  journalStateSchema,
  journalVerdictSchema,
  type RecordFilter,
  recordFilterShape,
  recordPageSchema,
  recordQuerySchema,
  verifyBodySchema,
} from '@tool-runtime/protocol';
import { z } from 'zod';
import { EXPORT_FORMATS, EXPORT_TYPES, exportRows, writePieces } from '../../records/export-records.ts';
import type { PageOrder, PageReader } from '../../records/read-pages.ts';
import { defineRoute, type RouteAnswer, type RouteCall } from '../route.ts';

/** Larger answers are not repeated here. */
const MAX_ANSWER_CHARS = 1_000_000;

const workspaceQuery = z.strictObject({ workspace: recordFilterShape.workspace });

export const listRecords = defineRoute({
  id: 'listRecords',
  method: 'get',
  path: '/v1/records',
  summary: 'Records of the journal, newest first, with filters, counts by value and over time',
  scope: 'audit',
  isHostWide: true,
  query: recordQuerySchema,
  answers: { 200: { description: 'A page', schema: recordPageSchema } },
  handle: (asked) => pageText(asked, 'records', (pages) => pages.records(orderOf(asked.query))),
});

export const listCalls = defineRoute({
  id: 'listCalls',
  method: 'get',
  path: '/v1/calls',
  summary: 'Calls of all sessions, newest first: what was asked, what was decided, and how it ended',
  scope: 'audit',
  isHostWide: true,
  query: recordQuerySchema,
  answers: { 200: { description: 'A page', schema: callPageSchema } },
  handle: (asked) => pageText(asked, 'calls', (pages) => pages.calls(orderOf(asked.query))),
});

export const showCall = defineRoute({
  id: 'showCall',
  method: 'get',
  path: '/v1/calls/{call_id}',
  summary: 'One call: its records, its answer while the host keeps it, and what it changed in files',
  scope: 'audit',
  isHostWide: true,
  query: workspaceQuery,
  answers: {
    200: { description: 'The call', schema: callDetailSchema },
    404: { description: 'The journal has no such call' },
  },
  async handle({ host, principal, params, query }) {
    const workspace = host.workspaceFor(principal, query.workspace);
    const detail = await host.records.detail(workspace, params['call_id'] ?? '');
    const text = host.answerOf(detail.call.session_id, detail.call.request_id);
    const isShown = text !== undefined && text.length <= MAX_ANSWER_CHARS;
    return { status: 200, json: isShown ? { ...detail, answer: JSON.parse(text) as JsonObject } : detail };
  },
});

export const exportRecords = defineRoute({
  id: 'exportRecords',
  method: 'get',
  path: '/v1/records/export',
  summary: 'Everything that a filter matches, as a file: JSON lines, CSV, or SARIF for refusals',
  scope: 'audit',
  isHostWide: true,
  query: z.strictObject({ ...recordFilterShape, format: z.enum(EXPORT_FORMATS).default('jsonl') }),
  answers: { 200: { description: 'The rows of GET /v1/records, oldest first', type: 'application/x-ndjson' } },
  async handle({ host, principal, query, outgoing }): Promise<RouteAnswer> {
    const { format, ...filter } = query;
    const pages = await host.records.pages(
      host.workspaceFor(principal, filter.workspace),
      filter.archived === 'true',
      'records',
    );
    outgoing.writeHead(200, {
      'content-type': EXPORT_TYPES[format],
      'content-disposition': `attachment; filename="records.${format}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    await writePieces(outgoing, exportRows(pages.matching(filter), format, host.serverVersion));
    return 'sent';
  },
});

export const listFamilies = defineRoute({
  id: 'listFamilies',
  method: 'get',
  path: '/v1/families',
  summary: 'Sessions with their children, newest first: what each was given, did, and how it ended',
  scope: 'audit',
  isHostWide: true,
  query: z.strictObject({
    workspace: recordFilterShape.workspace,
    limit: z.coerce.number().int().min(1).max(500).default(100),
  }),
  answers: { 200: { description: 'Families', schema: familiesSchema } },
  handle: async ({ host, principal, query }) => ({
    status: 200,
    json: await host.records.families(host.workspaceFor(principal, query.workspace), query.limit),
  }),
});

export const journalState = defineRoute({
  id: 'journalState',
  method: 'get',
  path: '/v1/journal',
  summary: 'How long the journal is, and the head of its chain',
  scope: 'audit',
  isHostWide: true,
  query: workspaceQuery,
  answers: { 200: { description: 'The journal', schema: journalStateSchema } },
  async handle({ host, principal, query }) {
    const state = await host.records.state(host.workspaceFor(principal, query.workspace));
    return { status: 200, json: { ...state, workspaces: host.workspaces.all.map(({ name }) => name) } };
  },
});

/** Takes time with the length of the journal, and nothing else runs meanwhile. */
export const verifyJournal = defineRoute({
  id: 'verifyJournal',
  method: 'post',
  path: '/v1/journal/verify',
  summary: 'Check every record of the journal, and that the chain is whole',
  scope: 'audit',
  isHostWide: true,
  body: verifyBodySchema,
  answers: { 200: { description: 'The verdict', schema: journalVerdictSchema } },
  handle: ({ host, principal, body }) => ({
    status: 200,
    json: host.workspaceFor(principal, body.workspace).runtime.verify(undefined, { archives: body.archives }),
  }),
});

type Query = z.infer<typeof recordQuerySchema>;

async function pageText(
  { host, principal, query }: Pick<RouteCall, 'host' | 'principal'> & { readonly query: Query },
  what: 'calls' | 'records',
  read: (pages: PageReader) => object,
): Promise<RouteAnswer> {
  const workspace = host.workspaceFor(principal, query.workspace);
  const make = async () => read(await host.records.pages(workspace, query.archived === 'true', what));
  const asked = `${what} ${JSON.stringify({ ...query, workspace: workspace.name })}`;
  return { status: 200, text: await host.records.text(asked, query.max_age_ms, make) };
}

function orderOf({ offset, limit, head, facets, max_age_ms: _, ...filter }: Query): PageOrder {
  return { filter: filter as RecordFilter, offset, limit, head, facets: facets === 'true' };
}
