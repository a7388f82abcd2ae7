/** Bodies of the routes that show the registry in force and figures over time. */
import { z } from 'zod';
import { jsonValueSchema } from '../envelopes/json.ts';
import { callRowSchema } from './records.ts';

export const registryViewSchema = z
  .strictObject({
    workspace: z.string(),
    fingerprint: z.string(),
    warnings: z.array(z.string()).readonly(),
    values: z
      .array(
        z.strictObject({
          path: z.string().describe('Dotted, with indices'),
          value: jsonValueSchema,
          origin: z.string().exactOptional().describe('file:line; left out for a default'),
        }),
      )
      .readonly(),
  })
  .meta({ id: 'RegistryView' });
export type RegistryView = Readonly<z.infer<typeof registryViewSchema>>;

const toolFiguresSchema = z
  .strictObject({
    calls: z.int(),
    errors: z.int(),
    denials: z.int(),
    bytes: z.number(),
    p50: z.number().describe('Milliseconds, estimated from a histogram'),
    p95: z.number(),
    p99: z.number(),
    lock_wait_ms: z.number(),
    approval_wait_ms: z.number(),
  })
  .meta({ id: 'ToolFigures' });
export type ToolFigures = Readonly<z.infer<typeof toolFiguresSchema>>;

export const metricsHistorySchema = z
  .strictObject({
    step_ms: z.int(),
    samples: z
      .array(
        z.strictObject({
          at_ms: z.number(),
          sessions: z.int(),
          in_flight: z.int(),
          queued: z.int(),
          approvals: z.int(),
          memory_bytes: z.int(),
          budgets: z
            .record(z.string(), z.number())
            .describe('By limit, the share that the open session nearest to it has used, from 0 to 1 or above'),
          servers: z
            .strictObject({ mounted: z.int(), running: z.int(), waiting: z.int().describe('Tools without approval') })
            .describe('Mounted MCP servers'),
          tools: z.record(z.string(), toolFiguresSchema).describe('Only tools that were called in this step'),
        }),
      )
      .readonly()
      .describe('Oldest first'),
    totals: z.record(z.string(), toolFiguresSchema).describe('Since the start of the host'),
  })
  .meta({ id: 'MetricsHistory' });
export type MetricsHistory = Readonly<z.infer<typeof metricsHistorySchema>>;

export const callsChangedSchema = z
  .strictObject({
    running: z.int(),
    waiting: z.int().describe('For a place'),
    workspaces: z
      .array(
        z.strictObject({
          workspace: z.string(),
          after: z.int().describe('Calls that began after this record, up to `head`, are all here'),
          head: z.int().describe('The newest record that was looked at'),
          calls: z
            .array(callRowSchema)
            .readonly()
            .describe('As they are now, oldest change first; after records were left out, the newest calls once more'),
          is_complete: z
            .boolean()
            .describe('False when other calls changed too: many at once, or ones that began before anyone watched'),
          left_out: z.int().describe('Records that were passed over because there were too many at once'),
        }),
      )
      .readonly()
      .exactOptional()
      .describe('Calls that changed since the last event of this kind; left out in repeated events'),
  })
  .meta({ id: 'CallsChanged' });
export type CallsChanged = Readonly<z.infer<typeof callsChangedSchema>>;
