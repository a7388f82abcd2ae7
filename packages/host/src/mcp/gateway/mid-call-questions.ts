/**
 * Questions of a server in the middle of a call, passed on to the caller.
 *
 * Servers of 2026 answer with their questions and are called again with the answers. Servers of 2025 send a request of
 * their own, which says not which call it belongs to: it is put to the caller of the only call under way, and declined
 * when there are several. When the caller cannot be asked, the answer is `decline`, once.
 */
import type { ElicitRequest, ElicitResult, InputRequiredResult } from '@modelcontextprotocol/client';
import type { JsonObject } from '@tool-runtime/protocol';
import type { AskClient, ClientQuestion } from '@tool-runtime/sdk';

const ELICITATION = 'elicitation/create';
const MAX_QUESTIONS = 8;

/** Answers by name, or undefined when the server asks what a call cannot answer. */
export async function answerInputs(
  { inputRequests = {} }: InputRequiredResult,
  ask: AskClient | undefined,
): Promise<Readonly<Record<string, JsonObject>> | undefined> {
  const requests = Object.entries(inputRequests);
  if (requests.length > MAX_QUESTIONS || requests.some(([, { method }]) => method !== ELICITATION)) return undefined;
  const questions = requests.map(([name, { method, params }]): [string, ClientQuestion] => [
    name,
    { method, params: params as unknown as JsonObject },
  ]);
  return questions.length === 0 ? {} : await askOrDecline(Object.fromEntries(questions), ask);
}

export async function answerElicitation({ params }: ElicitRequest, ask: AskClient | undefined): Promise<ElicitResult> {
  const question = { method: ELICITATION, params: params as unknown as JsonObject };
  const answers = await askOrDecline({ question }, ask);
  const answer = answers['question'];
  const action = answer?.['action'];
  if (action !== 'accept' && action !== 'cancel') return { action: 'decline' };
  return answer as unknown as ElicitResult;
}

/** A caller that cannot be asked after all has declined. */
async function askOrDecline(
  questions: Readonly<Record<string, ClientQuestion>>,
  ask: AskClient | undefined,
): Promise<Readonly<Record<string, JsonObject>>> {
  const declined = Object.fromEntries(Object.keys(questions).map((name) => [name, { action: 'decline' }]));
  if (ask === undefined) return declined;
  try {
    return { ...declined, ...(await ask(questions)) };
  } catch {
    return declined;
  }
}
