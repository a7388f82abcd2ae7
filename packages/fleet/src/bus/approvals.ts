/**
 * Approval questions of all hosts. Each question is at one host, and its desk takes the first answer, so exactly one wins
 * wherever the others come from.
 *
 * A host asks in the name of someone it has let in. A user of the fleet asks in its own name, which the servers prove, and
 * each host decides by its list of approvers.
 */
import { isJsonObject, type JsonObject, toToolError } from '@tool-runtime/protocol';
import { approvalsSubject, inboxOf, token, untoken } from '../wire/names.ts';
import type { Wire } from '../wire/open-wire.ts';

/** The answer of this host; undefined when the question is not here. `by` is proven or vouched for. */
export type ApprovalsAsked = (question: JsonObject, by: string) => JsonObject | undefined;

/** Hosts answer at once; one that does not within this time is not there. */
const MAX_WAIT_MS = 2000;
const STALL_MS = 400;

export function serveApprovals({ nc, tenant, user }: Wire, approvers: readonly string[], answer: ApprovalsAsked): void {
  const all = `apr.${token(tenant)}.*.*`;
  nc.subscribe(all, {
    callback(error, message) {
      if (error !== null) return;
      const [, , kind, sender = ''] = message.subject.split('.');
      const question = questionIn(message.string());
      // As for tunnels: this host may publish where the sender may not, so it answers in the sender's own inbox only.
      if (question === undefined || message.reply?.startsWith(`${inboxOf(sender)}.`) !== true) return;
      const by = kind === 'gw' ? question['by'] : untoken(sender);
      const isOwn = kind === 'gw' && untoken(sender) === user;
      if (isOwn || typeof by !== 'string' || (kind !== 'gw' && !approvers.includes(by))) return;
      const said = answered(() => answer(question, by));
      if (said !== undefined) message.respond(JSON.stringify(said));
    },
  });
}

/** Undefined for anything but a JSON object: what throws in a callback of the bus ends the connection. */
function questionIn(text: string): JsonObject | undefined {
  try {
    const question: unknown = JSON.parse(text);
    return isJsonObject(question) ? question : undefined;
  } catch {
    return undefined;
  }
}

function answered(work: () => JsonObject | undefined): JsonObject | undefined {
  try {
    return work();
  } catch (thrown) {
    const { code, message, details } = toToolError(thrown);
    return { error: { code, message, details } };
  }
}

/** What all other hosts say. An answer to one question comes from one host, so `isOne` ends the waiting with the first. */
export async function askApprovals({ nc, tenant, user }: Wire, question: JsonObject): Promise<readonly JsonObject[]> {
  const subject = approvalsSubject(tenant, 'gw', user);
  const isOne = question['op'] === 'answer';
  const answers = await nc.requestMany(subject, JSON.stringify(question), {
    ...(isOne ? { strategy: 'count', maxMessages: 1 } : { strategy: 'stall', stall: STALL_MS }),
    maxWait: MAX_WAIT_MS,
  });
  const found: JsonObject[] = [];
  try {
    for await (const answer of answers) found.push(answer.json<JsonObject>());
  } catch {
    // No other host is there.
  }
  return found;
}
