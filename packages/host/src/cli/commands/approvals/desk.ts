/** The questions of the running host: listed, named by short ids, answered. */
import type { AnswerApprovalBody, ApprovalAnswered, PendingApproval } from '@tool-runtime/protocol';
import { paint, plainText } from '../../../terminal/terminal.ts';
import type { SharedOptions } from '../../command.ts';

export interface QuestionDesk {
  list(): Promise<readonly PendingApproval[]>;
  answer(id: string, body: AnswerApprovalBody): Promise<ApprovalAnswered>;
}

export async function openDesk(options: SharedOptions): Promise<QuestionDesk> {
  const { approvalAnsweredSchema, pendingApprovalSchema } = await import('@tool-runtime/protocol');
  const { askHost } = await import('../../ask-host.ts');
  const { stateOf } = await import('../../state-of.ts');
  const state = stateOf(options);
  return {
    async list() {
      const answer = await askHost(state, { method: 'GET', path: '/v1/approvals' });
      return pendingApprovalSchema.array().parse((answer as { readonly approvals: unknown }).approvals);
    },
    async answer(id, body) {
      const path = `/v1/approvals/${encodeURIComponent(id)}`;
      return approvalAnsweredSchema.parse(await askHost(state, { method: 'POST', path, body }));
    },
  };
}

const PREFIX = 'approval.';
const SHORTEST = 8;

/** The beginning that tells this question from the others. */
export function shortId(id: string, all: readonly PendingApproval[]): string {
  const others = all.map(({ approval_id }) => bare(approval_id)).filter((other) => other !== bare(id));
  const own = bare(id);
  let length = SHORTEST;
  while (length < own.length && others.some((other) => other.startsWith(own.slice(0, length)))) length += 1;
  return own.slice(0, length);
}

/** The id that begins so, if there is exactly one; otherwise what was given, which the host refuses with the reason. */
export function fullId(given: string, all: readonly PendingApproval[]): string | 'ambiguous' {
  const ids = all.map(({ approval_id }) => approval_id);
  if (ids.includes(given) || given.length < 4) return given;
  const found = ids.filter((id) => id.startsWith(given) || bare(id).startsWith(given));
  return found.length > 1 ? 'ambiguous' : (found[0] ?? given);
}

function bare(id: string): string {
  return id.startsWith(PREFIX) ? id.slice(PREFIX.length) : id;
}

/** For people: what would happen, or the arguments where that is not known. */
export function describeQuestion(question: PendingApproval, all: readonly PendingApproval[]): readonly string[] {
  const { approval_id, tool, actor, reason, args, effect, scope, expires_at } = question;
  const left = Math.max(0, Math.round(expires_at - Date.now() / 1000));
  const shown = effect === undefined ? [JSON.stringify(args)] : effectLines(effect);
  return [
    `${paint('bold', shortId(approval_id, all))}  ${plainText(tool)}  by ${plainText(actor)}, ${left} s left`,
    `  because ${plainText(reason)}`,
    ...shown.map((line) => `  ${coloured(plainText(line), effect?.kind)}`),
    ...(scope === undefined ? [] : [`  for the session: ${plainText(scope)}`]),
  ];
}

/** The text is cut for forms; the diff beside it less. */
function effectLines({ text, ran }: NonNullable<PendingApproval['effect']>): readonly string[] {
  if (ran === undefined || ran.diff === '') return text.split('\n');
  const at = text.indexOf(ran.diff.slice(0, 100));
  return [...(at < 0 ? text : text.slice(0, at)).trimEnd().split('\n'), ...ran.diff.trimEnd().split('\n')];
}

function coloured(line: string, kind: string | undefined): string {
  if (kind !== 'diff' && kind !== 'effects') return line;
  return line.startsWith('+') ? paint('green', line) : line.startsWith('-') ? paint('red', line) : line;
}
