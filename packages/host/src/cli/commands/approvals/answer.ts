/** Sends one answer and says what became of it. */
import { type AnswerApprovalBody, approvalAnsweredSchema } from '@tool-runtime/protocol';
import type { SharedOptions } from '../../command.ts';
import { printJson, printLine } from '../../terminal.ts';

export async function answerApproval(id: string, body: AnswerApprovalBody, options: SharedOptions): Promise<void> {
  const { askHost } = await import('../../ask-host.ts');
  const { stateOf } = await import('../../state-of.ts');
  const path = `/v1/approvals/${encodeURIComponent(id)}`;
  const answered = approvalAnsweredSchema.parse(await askHost(stateOf(options), { method: 'POST', path, body }));
  if (options.json === true) printJson(answered, { compact: true });
  else printLine(`${answered.approval_id} ${answered.answer} by ${answered.by}`);
}
