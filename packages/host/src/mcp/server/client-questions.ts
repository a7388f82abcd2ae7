/**
 * What a running call asks of its MCP client, and where the answers go.
 *
 * The 2026 family has no requests from server to client: a call that asks answers `input_required`, and the client comes
 * back with the answers in a new request. The call itself waits meanwhile, so nothing is done twice. Clients of 2025 are
 * asked while their request stays open.
 */
import { randomUUID } from 'node:crypto';
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import { ToolError } from '@tool-runtime/protocol';
import type { ClientQuestion } from '@tool-runtime/sdk';

export type Questions = Readonly<Record<string, ClientQuestion>>;
export type Answers = Readonly<Record<string, JsonObject>>;

/** An approval is asked once, and silence is a no; a tool's question that came back unanswered is asked again. */
export type QuestionKind = 'approval' | 'tool';

export interface OpenQuestion {
  readonly id: string;
  readonly kind: QuestionKind;
  readonly questions: Questions;
  /** Put to a client that is expected to answer while the request is open. */
  isOut: boolean;
  answer(answers: Answers): void;
  /** The client cannot be asked; the tool that asked gets the reason. */
  refuse(error: ToolError): void;
}

export type Step =
  | { readonly type: 'answered'; readonly response: ToolResponse }
  | { readonly type: 'asks'; readonly question: OpenQuestion };

/** One call on its way, across as many requests as its questions need. */
export class WaitingCall {
  readonly #open: OpenQuestion[] = [];
  #wake: (() => void) | undefined;
  #response: ToolResponse | undefined;
  #failure: { readonly thrown: unknown } | undefined;
  #id: string | undefined;

  /** Made on first use: only a call that asks is looked for. */
  get id(): string {
    this.#id ??= randomUUID();
    return this.#id;
  }

  /** Takes the answer when it comes; a failure to run at all is thrown by `next`. */
  follow(answer: Promise<ToolResponse>): void {
    answer.then(
      (response) => {
        this.#response = response;
        this.#wake?.();
      },
      (thrown: unknown) => {
        this.#failure = { thrown };
        this.#wake?.();
      },
    );
  }

  ask(questions: Questions, kind: QuestionKind): Promise<Answers> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        const at = this.#open.indexOf(question);
        if (at >= 0) this.#open.splice(at, 1);
      };
      const question: OpenQuestion = {
        id: randomUUID(),
        kind,
        questions,
        isOut: false,
        answer(answers) {
          leave();
          resolve(answers);
        },
        refuse(error) {
          leave();
          reject(error);
        },
      };
      this.#open.push(question);
      this.#wake?.();
    });
  }

  find(questionId: string): OpenQuestion | undefined {
    return this.#open.find(({ id }) => id === questionId);
  }

  /** The next thing that happens: an answer, or a question that has not been shown. */
  next(): Promise<Step> {
    return new Promise((resolve, reject) => {
      this.#wake = () => {
        if (this.#failure !== undefined) return reject(this.#failure.thrown);
        const step = this.#step();
        if (step !== undefined) resolve(step);
      };
      this.#wake();
    });
  }

  #step(): Step | undefined {
    if (this.#response !== undefined) return { type: 'answered', response: this.#response };
    const question = this.#open.find(({ isOut }) => !isOut);
    return question === undefined ? undefined : { type: 'asks', question };
  }
}

/** Calls that wait for a client to come back. The oldest are given up when there are too many. */
export class WaitingCalls {
  readonly #calls = new Map<string, WaitingCall>();
  readonly #max: number;

  constructor(max = 1024) {
    this.#max = max;
  }

  keep(call: WaitingCall): void {
    this.#calls.set(call.id, call);
    if (this.#calls.size <= this.#max) return;
    const [oldest] = this.#calls.keys();
    if (oldest !== undefined) this.#calls.delete(oldest);
  }

  /** Throws for a call that is not there: it was answered, given up, or belongs to another process. */
  take(callId: string): WaitingCall {
    const call = this.#calls.get(callId);
    this.#calls.delete(callId);
    if (call !== undefined) return call;
    throw new ToolError('E_INTERNAL', 'The call that asked is no longer waiting', {
      details: { reason: 'call_gone', next: 'make the call again' },
    });
  }
}
