/**
 * Requests that have no answer yet, across connections, and the verdict over every answer that comes.
 *
 * A request leaves with its one terminal message, so a second one finds nothing. What is sent again keeps its id: should
 * the first copy arrive after all, the host refuses one of the two.
 */
import type { BatchRequest } from '../envelopes/from-client/batch-request.ts';
import type { CancelRequest } from '../envelopes/from-client/cancel-request.ts';
import type { ToolRequest } from '../envelopes/from-client/tool-request.ts';
import type { BatchResponse } from '../envelopes/from-host/batch-response.ts';
import type { ErrorMessage } from '../envelopes/from-host/error-message.ts';
import type { ToolResponse } from '../envelopes/from-host/tool-response.ts';
import { cancelledBeforeSending, outcomeUnknown, reasonOf, toErrorMessage } from './error-messages.ts';
import { isKeyInUse } from './retry-call.ts';

type Request = ToolRequest | BatchRequest;
type Answer = ToolResponse | BatchResponse | ErrorMessage;

export type Verdict =
  | { readonly action: 'deliver'; readonly answer: Answer; readonly sessionId: string }
  | { readonly action: 'repeat'; readonly request: Request }
  /** Ask the host once more what became of it. */
  | { readonly action: 'ask'; readonly requestId: string }
  | { readonly action: 'ignore' };

interface OpenRequest {
  readonly request: Request;
  /** It may have reached the host. */
  isSent: boolean;
  /** How often it was sent again. */
  repeats: number;
  cancel: CancelRequest | undefined;
  asks: number;
  /** How often the session it was sent to was lost. */
  recalls: number;
}

const MAX_ASKS = 3;
/** A request that never arrives may be what ends the connection each time: one far too large, for example. */
const MAX_REPEATS = 3;
/** More hosts than a fleet loses by chance while one call runs. */
const MAX_RECALLS = 8;
const IGNORE: Verdict = { action: 'ignore' };

export class RequestLedger {
  readonly #open = new Map<string, OpenRequest>();

  add(request: Request): void {
    this.#open.set(request.request_id, {
      request,
      isSent: false,
      repeats: 0,
      cancel: undefined,
      asks: 0,
      recalls: 0,
    });
  }

  markSent(requestId: string): void {
    const entry = this.#open.get(requestId);
    if (entry !== undefined) entry.isSent = true;
  }

  /** What to do about the cancel: send it, or deliver this answer because the request never went out. */
  cancel(message: CancelRequest): 'send' | ErrorMessage | undefined {
    const entry = this.#open.get(message.request_id);
    if (entry === undefined) return undefined;
    entry.cancel = message;
    if (entry.isSent) return 'send';
    this.#open.delete(message.request_id);
    return toErrorMessage(cancelledBeforeSending(), message.request_id);
  }

  unsent(): Request[] {
    return this.#entries({ isSent: false }).map(({ request }) => request);
  }

  pendingIds(): string[] {
    return this.#entries({ isSent: true }).map(({ request }) => request.request_id);
  }

  /** Cancels that may have been lost with the connection they went out on. */
  cancels(): CancelRequest[] {
    return this.#entries({ isSent: true }).flatMap(({ cancel }) => (cancel === undefined ? [] : [cancel]));
  }

  /** Takes every request that may have run and will not be answered any more; those of some sessions, or all. */
  abandonSent(because: string, isOf: (sessionId: string) => boolean = () => true): ErrorMessage[] {
    const lost = this.#entries({ isSent: true }).filter(({ request }) => isOf(request.session_id));
    return lost.map(({ request: { request_id } }) => {
      this.#open.delete(request_id);
      return toErrorMessage(outcomeUnknown(because), request_id);
    });
  }

  /**
   * Whatever was sent counts as not sent: it goes to another session, whose host knows what became of it. What has lost its
   * host too often may be the reason, and is given up.
   */
  recallSent(because: string): ErrorMessage[] {
    const given: ErrorMessage[] = [];
    for (const entry of this.#entries({ isSent: true })) {
      entry.recalls += 1;
      entry.isSent = false;
      if (entry.recalls <= MAX_RECALLS) continue;
      this.#open.delete(entry.request.request_id);
      given.push(toErrorMessage(outcomeUnknown(because), entry.request.request_id));
    }
    return given;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  judge(answer: Answer): Verdict {
    const entry = answer.request_id === null ? undefined : this.#open.get(answer.request_id);
    if (entry === undefined) return IGNORE;
    const reason = answer.type === 'ErrorMessage' ? reasonOf(answer.details) : undefined;
    if (reason === 'never_received') return this.#notReceived(entry, answer);
    if (reason === 'answer_gone') return this.#answerGone(entry);
    const isRefusedCopy = entry.repeats > 0 && (reason === 'request_id_reused' || isKeyInUse(answer));
    return isRefusedCopy ? this.#refusedCopy(entry, answer) : this.#settle(entry, answer);
  }

  #notReceived(entry: OpenRequest, answer: Answer): Verdict {
    if (entry.cancel === undefined) {
      return entry.repeats < MAX_REPEATS ? this.#repeat(entry) : this.#settle(entry, answer);
    }
    return this.#settle(entry, toErrorMessage(cancelledBeforeSending(), entry.request.request_id));
  }

  #answerGone(entry: OpenRequest): Verdict {
    const { request } = entry;
    const { request_id } = request;
    // A batch is not repeated as a whole: its calls have keys of their own, and their ids are used up.
    if (request.type === 'ToolRequest' && request.idempotency_key !== undefined) return this.#repeat(entry);
    return this.#settle(entry, toErrorMessage(outcomeUnknown('answer_gone'), request_id));
  }

  /** The first copy had arrived after all, and has or will have the true answer. */
  #refusedCopy(entry: OpenRequest, answer: Answer): Verdict {
    const { request_id } = entry.request;
    entry.asks += 1;
    if (entry.asks <= MAX_ASKS) return { action: 'ask', requestId: request_id };
    const isUnknown = answer.type === 'ErrorMessage';
    return this.#settle(entry, isUnknown ? toErrorMessage(outcomeUnknown('request_id_reused'), request_id) : answer);
  }

  #repeat(entry: OpenRequest): Verdict {
    entry.repeats += 1;
    return { action: 'repeat', request: entry.request };
  }

  #settle({ request }: OpenRequest, answer: Answer): Verdict {
    this.#open.delete(request.request_id);
    return { action: 'deliver', answer, sessionId: request.session_id };
  }

  #entries({ isSent }: { readonly isSent: boolean }): OpenRequest[] {
    return Array.from(this.#open.values()).filter((entry) => entry.isSent === isSent);
  }
}
