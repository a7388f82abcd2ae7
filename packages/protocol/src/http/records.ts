/** Bodies of the routes that read the journal: pages of records and calls, one call in full, families, and the chain. */
import { z } from 'zod';
import { jsonObjectSchema } from '../envelopes/json.ts';

const list = (what: string) => z.string().max(1024).exactOptional().describe(`${what}; several with commas`);
const count = z.coerce.number().int().nonnegative();

/** What a page of records or calls may be narrowed by. Text is searched in summaries, messages and ids. */
export const recordFilterShape = {
  workspace: z.string().max(4096).exactOptional().describe('Name or folder; the first one by default'),
  kind: list('Kinds of records'),
  tool: list('Tools'),
  decision: list('allow, ask or deny'),
  status: list('How calls ended, or `running`'),
  rule: list('Rules or gates that decided'),
  code: list('Error codes'),
  session: list('Session ids'),
  client: list('Clients'),
  call: list('Call ids'),
  text: z.string().max(512).exactOptional().describe('Without regard to case'),
  from: count.exactOptional().describe('Milliseconds since 1970'),
  to: count.exactOptional().describe('Milliseconds since 1970'),
  archived: z.enum(['true', 'false']).exactOptional().describe('Also what was moved into archives'),
} as const;

export const recordQuerySchema = z.strictObject({
  ...recordFilterShape,
  offset: count.default(0).describe('How many of the newest to leave out'),
  limit: count.max(500).default(100),
  head: count.exactOptional().describe('Nothing after this record: keeps pages in place while the journal grows'),
  facets: z.enum(['true', 'false']).default('false').describe('Also counts by value, and over time'),
  max_age_ms: count
    .max(5000)
    .default(0)
    .describe(
      'An answer to the same question that is no older will do: many who look at once cost little more than one',
    ),
});
export type RecordQuery = Readonly<Partial<z.infer<typeof recordQuerySchema>>>;
export type RecordFilter = Readonly<Partial<z.infer<z.ZodObject<typeof recordFilterShape>>>>;

export const recordRowSchema = z
  .strictObject({
    seq: z.int(),
    at_ms: z.number(),
    kind: z.string(),
    word: z.string().describe('What it says in one word: the event, outcome, answer or status'),
    text: z.string().describe('One redacted line'),
    session_id: z.string().exactOptional(),
    call_id: z.string().exactOptional(),
    tool: z.string().exactOptional(),
    client: z.string().exactOptional(),
    decision: z.string().exactOptional(),
    rule: z.string().exactOptional(),
    code: z.string().exactOptional(),
    status: z.string().exactOptional(),
  })
  .meta({ id: 'RecordRow' });
export type RecordRow = Readonly<z.infer<typeof recordRowSchema>>;

export const callRowSchema = z
  .strictObject({
    call_id: z.string(),
    session_id: z.string(),
    request_id: z.string(),
    tool: z.string(),
    actor: z.string(),
    client: z.string(),
    summary: z.string(),
    at_ms: z.number(),
    end_ms: z.number().exactOptional(),
    duration_ms: z.number().exactOptional(),
    waited_ms: z.number().exactOptional().describe('For a person'),
    decision: z.string().describe('allow, ask or deny'),
    gate: z.string().exactOptional(),
    rule: z.string().exactOptional(),
    registry: z.string().exactOptional().describe('file:line that decided'),
    code: z.string().exactOptional(),
    message: z.string().exactOptional(),
    status: z.string().describe('`running` until it has a result'),
    bytes: z.number().exactOptional(),
    files: z.int().exactOptional(),
    stages: z
      .array(z.strictObject({ stage: z.enum(['gates', 'person', 'run']), at_ms: z.number() }).readonly())
      .readonly()
      .describe('When each stage began, from the times of the records; it lasts until the next one or the end'),
    first_seq: z.int(),
    last_seq: z.int(),
  })
  .meta({ id: 'CallRow' });
export type CallRow = Readonly<z.infer<typeof callRowSchema>>;

const facetSchema = z.array(z.strictObject({ value: z.string(), count: z.int() }).readonly()).readonly();
const pageShape = {
  workspace: z.string(),
  total: z.int().describe('That match'),
  head: z.int().describe('The newest record that was looked at'),
  is_complete: z
    .boolean()
    .describe('False when the journal is longer than the host keeps at hand; the oldest are left out'),
  facets: z.record(z.string(), facetSchema).exactOptional().describe('The most frequent values of each field'),
  over_time: z
    .strictObject({
      from: z.number(),
      to: z.number(),
      counts: z.array(z.int()).readonly(),
      denied: z.array(z.int()).readonly(),
    })
    .exactOptional()
    .describe('In equal steps from `from` to `to`'),
};

export const recordPageSchema = z
  .strictObject({ records: z.array(recordRowSchema).readonly(), ...pageShape })
  .meta({ id: 'RecordPage' });
export type RecordPage = Readonly<z.infer<typeof recordPageSchema>>;

export const callPageSchema = z
  .strictObject({ calls: z.array(callRowSchema).readonly(), ...pageShape })
  .meta({ id: 'CallPage' });
export type CallPage = Readonly<z.infer<typeof callPageSchema>>;

const changedPathSchema = z.strictObject({
  path: z.string(),
  before: z.string().describe('file, link, folder or absent'),
  after: z.string(),
  diff: z
    .string()
    .exactOptional()
    .describe('Unified, with known secrets masked; left out for what is no text or not kept'),
});

export const callChangeSchema = z
  .strictObject({
    change_id: z.string(),
    status: z.string(),
    paths: z.array(changedPathSchema).readonly(),
    is_cut: z.boolean().describe('Diffs or paths are missing because there were too many'),
  })
  .meta({ id: 'CallChange' });
export type CallChange = Readonly<z.infer<typeof callChangeSchema>>;

export const callDetailSchema = z
  .strictObject({
    call: callRowSchema,
    workspace: z.string(),
    records: z.array(jsonObjectSchema).readonly().describe('As in the journal, oldest first'),
    answer: jsonObjectSchema.exactOptional().describe('While the host keeps it: the answer as the caller got it'),
    change: callChangeSchema.exactOptional().describe('What the call did to files, when it left a change set'),
    head: z.int(),
  })
  .meta({ id: 'CallDetail' });
export type CallDetail = Readonly<z.infer<typeof callDetailSchema>>;

export const journalStateSchema = z
  .strictObject({
    workspace: z.string(),
    workspaces: z.array(z.string()).readonly(),
    head: z.strictObject({ seq: z.int(), mac: z.string() }),
    records: z.int(),
    calls: z.int(),
    first_seq: z.int().exactOptional(),
    first_at_ms: z.number().exactOptional(),
    last_at_ms: z.number().exactOptional(),
  })
  .meta({ id: 'JournalState' });
export type JournalState = Readonly<z.infer<typeof journalStateSchema>>;

export const verifyBodySchema = z
  .strictObject({
    workspace: z.string().max(4096).exactOptional(),
    archives: z.boolean().default(false).describe('Also every archive that is still there'),
  })
  .meta({ id: 'VerifyJournal' });
export type VerifyBody = Readonly<z.input<typeof verifyBodySchema>>;

export const journalVerdictSchema = z
  .looseObject({
    ok: z.boolean(),
    records: z.int(),
    head: z.strictObject({ seq: z.int(), mac: z.string() }),
    broken: z.looseObject({ seq: z.int(), reason: z.string() }).exactOptional(),
  })
  .meta({ id: 'JournalVerdict' });
export type JournalVerdict = Readonly<z.infer<typeof journalVerdictSchema>>;

export interface FamilyMember {
  readonly session_id: string;
  readonly parent_session_id?: string | undefined;
  readonly actor: string;
  readonly client: string;
  readonly state: string;
  readonly started_at?: number | undefined;
  readonly ended_at?: number | undefined;
  readonly calls: number;
  readonly refusals: number;
  readonly events: readonly {
    readonly event: string;
    readonly at_ms: number;
    readonly details: Record<string, unknown>;
  }[];
  readonly children: readonly FamilyMember[];
}

export const familyMemberSchema: z.ZodType<FamilyMember> = z
  .strictObject({
    session_id: z.string(),
    parent_session_id: z.string().optional(),
    actor: z.string(),
    client: z.string(),
    state: z.string().describe('open, closed, expired, completed, cancelled, or lost with its process'),
    started_at: z.number().optional(),
    ended_at: z.number().optional(),
    calls: z.int(),
    refusals: z.int(),
    events: z
      .array(z.strictObject({ event: z.string(), at_ms: z.number(), details: jsonObjectSchema }))
      .describe('Of a child: its start with what it was given and stripped of, its handoff, its end'),
    get children() {
      return z.array(familyMemberSchema);
    },
  })
  .meta({ id: 'FamilyMember' });

export const familiesSchema = z
  .strictObject({ workspace: z.string(), total: z.int(), families: z.array(familyMemberSchema).readonly() })
  .meta({ id: 'Families' });
export type Families = Readonly<z.infer<typeof familiesSchema>>;
