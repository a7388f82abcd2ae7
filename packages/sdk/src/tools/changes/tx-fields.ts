/** What the transaction tools share. */
import { z } from 'zod';
import type { OpenTransaction } from '../../contracts/transactions.ts';

export const txId = z
  .string()
  .min(1)
  .max(200)
  .exactOptional()
  .describe('`tx_id` from tx_begin; the newest open transaction of the session by default');

export const transactionRow = z.strictObject({
  tx_id: z.string(),
  actor: z.string(),
  session_id: z.string(),
  at: z.string(),
  expires_at: z.string().describe('When it ends by itself if no call joins it until then'),
});

export function openTransaction({ tx_id, actor, session_id, at, expires_at }: OpenTransaction) {
  return { tx_id, actor, session_id, at: timeOf(at), expires_at: timeOf(expires_at) };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
