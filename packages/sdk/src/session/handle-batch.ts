/** A batch that came as an envelope: the batch is refused as a whole, or each of its calls has an answer. */
import {
  type BatchRequest,
  type BatchResponse,
  type ErrorMessage,
  type ToolResponse,
  toToolError,
} from '@tool-runtime/protocol';
import { parseStrategy, type ToolExecutionStrategy } from '../package/execution-strategy.ts';
import { errorMessage } from './error-message.ts';
import { type Footprint, runBatch } from './run-batch.ts';
import type { HandleOptions } from './session.ts';

export type BatchRequestCall = BatchRequest['calls'][number];

type CallAnswer = ToolResponse | ErrorMessage;

/** What a transport has to say about the calls of a batch. */
export interface BatchHandling {
  /** Called when the strategy lets the call begin; runs it by `handle`. */
  readonly handleCall?: (
    requestId: string,
    handle: (options: HandleOptions) => Promise<CallAnswer>,
  ) => Promise<CallAnswer>;
}

export interface BatchParts extends BatchHandling {
  /** Throws what refuses the batch. */
  claim(): void;
  call(item: BatchRequestCall, options: HandleOptions & { strategy: ToolExecutionStrategy }): Promise<ToolResponse>;
  footprint(item: BatchRequestCall): Footprint;
}

/** Never rejects. */
export async function handleBatch(request: BatchRequest, parts: BatchParts): Promise<BatchResponse | ErrorMessage> {
  const { request_id } = request;
  const responses: CallAnswer[] = [];
  try {
    const strategy = parseStrategy(request.strategy);
    parts.claim();
    const calls = request.calls.map((item) => ({
      footprint: parts.footprint(item),
      run() {
        const handle = (options: HandleOptions): Promise<CallAnswer> =>
          parts
            .call(item, { ...options, strategy })
            .catch((thrown: unknown) => errorMessage(toToolError(thrown), item.request_id));
        return parts.handleCall?.(item.request_id, handle) ?? handle({});
      },
    }));
    await runBatch(calls, strategy, (answer) => responses.push(answer));
  } catch (thrown) {
    return errorMessage(toToolError(thrown), request_id);
  }
  return { type: 'BatchResponse', request_id, responses };
}
