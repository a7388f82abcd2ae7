/** Sends one answer and says what became of it. */
import type { AnswerApprovalBody } from '@tool-runtime/protocol';
import { printJson, printLine, showError } from '../../../terminal/terminal.ts';
import type { SharedOptions } from '../../command.ts';

/** The exit code: an answer that came too late is no mistake of the command line. */
export async function answerApproval(id: string, body: AnswerApprovalBody, options: SharedOptions): Promise<0 | 1> {
  const { approvalAnsweredSchema, isToolError } = await import('@tool-runtime/protocol');
  const { askHost } = await import('../../ask-host.ts');
  const { stateOf } = await import('../../state-of.ts');
  const path = `/v1/approvals/${encodeURIComponent(id)}`;
  try {
    const answered = approvalAnsweredSchema.parse(await askHost(stateOf(options), { method: 'POST', path, body }));
    if (options.json === true) printJson(answered, { compact: true });
    else printLine(`${answered.approval_id} ${answered.answer} by ${answered.by}`);
    return 0;
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    const { next } = thrown.details;
    showError(thrown.message, typeof next === 'string' ? next : undefined);
    return 1;
  }
}
