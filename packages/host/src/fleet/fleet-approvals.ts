/** Approval questions of all hosts of a fleet: any host lists and answers them. The host that asks decides which answer counts. */
import {
  type ApprovalAnswer,
  type ApprovalAnswered,
  approvalAnsweredSchema,
  approvalAnswerSchema,
  type JsonObject,
  type PendingApproval,
  pendingApprovalSchema,
  ToolError,
} from '@tool-runtime/protocol';
import { z } from 'zod';
import type { ApprovalDesk, OtherDesks } from '../sessions/approval-desk.ts';
import type { HostFleet } from './host-fleet.ts';

const listSchema = z.object({ approvals: z.array(pendingApprovalSchema) });
const saidSchema = z.union([
  z.object({ answered: approvalAnsweredSchema }),
  z.object({ error: z.object({ code: z.string(), message: z.string(), details: z.record(z.string(), z.json()) }) }),
]);

/** Serves the questions of this host to the others. Undefined where the fleet carries none. */
export function openFleetDesks(desk: ApprovalDesk, fleet: HostFleet): OtherDesks | undefined {
  const { askApprovals } = fleet;
  if (askApprovals === undefined) return undefined;
  fleet.serveApprovals?.((question, by) => answerHere(desk, question, by));
  return {
    async list(by) {
      const said = await askApprovals({ op: 'list', by });
      return said.flatMap((one): readonly PendingApproval[] => {
        const parsed = listSchema.safeParse(one);
        return parsed.success ? (parsed.data.approvals as PendingApproval[]) : [];
      });
    },
    async answer({ approval_id, answer, reason, args }, by) {
      const given = {
        approval_id,
        answer,
        ...(reason === undefined ? {} : { reason }),
        ...(args === undefined ? {} : { args }),
      };
      const [said] = await askApprovals({ op: 'answer', by, given: given as JsonObject });
      return said === undefined ? undefined : read(said);
    },
  };
}

function read(said: JsonObject): ApprovalAnswered {
  const parsed = saidSchema.safeParse(said);
  if (parsed.success && 'answered' in parsed.data) return parsed.data.answered;
  const { message = 'The other host could not be understood', details = {} } =
    parsed.success && 'error' in parsed.data ? parsed.data.error : {};
  throw new ToolError('E_POLICY', message, { details });
}

function answerHere(desk: ApprovalDesk, { op, given }: JsonObject, by: string): JsonObject | undefined {
  const principal = { id: `fleet:${by}`, name: by, scopes: new Set(['approve'] as const) };
  if (op === 'list') return { approvals: desk.list(principal) as unknown as JsonObject[] };
  const parsed = approvalAnswerSchema.omit({ type: true }).safeParse(given);
  if (op !== 'answer' || !parsed.success || !desk.knows(parsed.data.approval_id)) return undefined;
  return { answered: { ...desk.answer(parsed.data as Omit<ApprovalAnswer, 'type'>, principal) } };
}
