/** One call of one tool. The answer is exactly one terminal message with the same request id. */
import { z } from 'zod';
import { idSchema, timestampSchema } from '../fields.ts';
import { jsonObjectSchema } from '../json.ts';

export const toolRequestSchema = z
  .strictObject({
    type: z.literal('ToolRequest'),
    tool: idSchema,
    args: jsonObjectSchema,
    request_id: idSchema,
    session_id: idSchema,
    timestamp: timestampSchema,
    idempotency_key: idSchema.exactOptional(),
    dedupe_key: idSchema.exactOptional(),
    /** The transaction it belongs to; the newest open one of the session by default. */
    tx_id: idSchema.exactOptional(),
    timeout_ms: z.int().positive().exactOptional(),
    /** W3C trace context of the caller: the span of this call becomes its child. */
    traceparent: z
      .string()
      .regex(/^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
      .exactOptional(),
    tracestate: z.string().max(512).exactOptional(),
  })
  .meta({ id: 'ToolRequest' });

export type ToolRequest = Readonly<z.infer<typeof toolRequestSchema>>;
