/**
 * One live connection to a foreign server: the MCP client of either family, the calls that run on it, and what the
 * server's listing said when it was last read.
 */
import {
  type CallToolResult,
  Client,
  type InputRequiredResult,
  isInputRequiredResult,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type Tool,
} from '@modelcontextprotocol/client';
import type { JsonObject } from '@tool-runtime/protocol';
import type { ToolContext } from '@tool-runtime/sdk';
import { hostVersion } from '../../ops/host-version.ts';
import { CommandTransport } from './command-transport.ts';
import { completingResults } from './complete-results.ts';
import type { ForeignDefinition } from './foreign-definition.ts';
import { answerElicitation, answerInputs } from './mid-call-questions.ts';
import type { UpstreamTransport } from './open-transport.ts';
import { type FailureSubject, upstreamFailure } from './upstream-failure.ts';

export type Family = 'legacy' | 'modern';

const START_MS = 30_000;
const ALIVE_MS = 1_500;
const MAX_ROUNDS = 8;
const MAX_PAGES = 64;
/** The deadline of the call ends a request, not the client's own. */
const NO_LIMIT_MS = 2_147_483_647;

/** Answers are checked by us, without generated code; the client checks nothing. */
const UNCHECKED: jsonSchemaValidator = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (data) => ({ valid: true, data: data as T, errorMessage: undefined }),
};

/** `trace` goes to the server in `_meta`, so that its spans are children of the call's. */
type CallNeeds = Pick<ToolContext, 'signal' | 'progress' | 'askClient' | 'trace'>;

export class Connection {
  readonly transport: UpstreamTransport;
  readonly #client: Client;
  readonly #running = new Set<Pick<ToolContext, 'askClient'>>();
  #listing: Promise<readonly Tool[]> | undefined;
  isClosed = false;

  constructor(transport: UpstreamTransport, onClosed: () => void) {
    this.transport = completingResults(transport);
    this.#client = new Client(
      { name: 'tool-runtime', version: hostVersion() },
      {
        capabilities: { elicitation: { form: { applyDefaults: true }, url: {} } },
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: probeLimit(transport) } },
        inputRequired: { autoFulfill: false },
        jsonSchemaValidator: UNCHECKED,
        listMaxPages: MAX_PAGES,
        listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => this.#forgetListing() } },
      },
    );
    this.#client.setRequestHandler('elicitation/create', (request) => answerElicitation(request, this.#onlyAsker()));
    this.#client.onclose = () => {
      this.isClosed = true;
      onClosed();
    };
  }

  get family(): Family {
    return this.#client.getProtocolEra() === 'modern' ? 'modern' : 'legacy';
  }

  get protocolVersion(): string | undefined {
    return this.#client.getNegotiatedProtocolVersion();
  }

  /** How the process ended, where there is one and it did. */
  get end(): string | undefined {
    if (!(this.transport instanceof CommandTransport) || this.transport.end === undefined) return undefined;
    const { end, lastWords } = this.transport;
    return lastWords === undefined ? end : `${end} (${lastWords})`;
  }

  /** `legacy`: known to speak 2025 only, so it is not asked first. */
  async open(known?: 'legacy'): Promise<void> {
    const prior = known === undefined ? {} : { prior: { kind: known } };
    await this.#client.connect(this.transport, { timeout: START_MS, ...prior });
  }

  /** Read once, and again after the server said that it changed. */
  listTools(): Promise<readonly Tool[]> {
    this.#listing ??= this.#client
      .listTools(undefined, { timeout: START_MS, cacheMode: 'refresh' })
      .then(({ tools }) => tools);
    this.#listing.catch(() => this.#forgetListing());
    return this.#listing;
  }

  /** Throws what the client throws. Questions on the way go to the caller. */
  async call(
    definition: ForeignDefinition,
    args: JsonObject,
    context: CallNeeds,
    subject: FailureSubject,
  ): Promise<CallToolResult> {
    this.#running.add(context);
    try {
      let answers: JsonObject = {};
      for (let round = 0; round <= MAX_ROUNDS; round++) {
        const result = await this.#send(definition, { arguments: args, ...answers }, context);
        if (!isInputRequiredResult(result)) return result;
        const given = await answerInputs(result, context.askClient);
        if (given === undefined) throw unanswerable(subject);
        answers = { inputResponses: given, ...stateOf(result) };
      }
      throw upstreamFailure(subject, 'MCP server does not stop asking', { reason: 'too_many_questions' });
    } finally {
      this.#running.delete(context);
    }
  }

  /** Whether it answers at all; a process that does not is of no more use. */
  async isAlive(): Promise<boolean> {
    try {
      const limit = { timeout: ALIVE_MS };
      await (this.family === 'modern' ? this.#client.discover(limit) : this.#client.ping(limit));
      return true;
    } catch {
      return false;
    }
  }

  async kill(why: string): Promise<void> {
    if (this.transport instanceof CommandTransport) await this.transport.kill(why);
    else await this.close();
  }

  async close(): Promise<void> {
    await this.#client.close().catch(() => {});
    await this.transport.close().catch(() => {});
  }

  #send(
    { outputSchema: _, ...definition }: ForeignDefinition,
    params: JsonObject,
    { signal, progress, trace }: CallNeeds,
  ): Promise<CallToolResult | InputRequiredResult> {
    return this.#client.callTool(
      { name: definition.name, ...params, ...(trace === undefined ? {} : { _meta: { ...trace } }) },
      {
        signal,
        timeout: NO_LIMIT_MS,
        allowInputRequired: true,
        toolDefinition: definition as unknown as Tool,
        onprogress: ({ progress: done, total, message }) =>
          progress(total === undefined || total <= 0 ? 0 : (done / total) * 100, message ?? ''),
      },
    );
  }

  #forgetListing(): void {
    this.#listing = undefined;
  }

  /** Of the only call under way. */
  #onlyAsker(): ToolContext['askClient'] {
    const [only, ...others] = this.#running;
    return others.length === 0 ? only?.askClient : undefined;
  }
}

/** A process that stays silent is an older one, so it is not waited for long; a silent address is merely slow. */
function probeLimit(transport: UpstreamTransport): number {
  return transport instanceof CommandTransport ? START_MS / 6 : START_MS;
}

function stateOf({ requestState }: InputRequiredResult): JsonObject {
  return requestState === undefined ? {} : { requestState };
}

function unanswerable(subject: FailureSubject) {
  return upstreamFailure(subject, 'MCP server asks what a call cannot answer', { reason: 'unsupported_question' });
}
