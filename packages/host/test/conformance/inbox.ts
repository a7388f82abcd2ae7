/** What a client got from the host, in the order it came, with a reader that waits for it. */
import { type EventMessage, type ServerMessage, serverMessageSchema } from '@tool-runtime/protocol';
import { within } from '../wire/within.ts';
import type { Traffic } from './traffic.ts';

export type Terminal = Extract<ServerMessage, { readonly type: 'ToolResponse' | 'ErrorMessage' }>;

export class Inbox {
  readonly messages: ServerMessage[] = [];
  /** Signs of life that are no messages, such as comments in a stream of events. */
  signs = 0;
  /** Why no more will come, once that is so. */
  end: string | undefined;
  readonly #traffic: Traffic;
  readonly #watchers = new Set<() => void>();

  constructor(traffic: Traffic) {
    this.#traffic = traffic;
  }

  /** One message as text, or already read by a client. */
  readonly push = (given: string | object): void => {
    const value: unknown = typeof given === 'string' ? JSON.parse(given) : given;
    this.#traffic.said('from host', value);
    this.messages.push(serverMessageSchema.parse(value));
    this.#wake();
  };

  readonly sign = (): void => {
    this.signs += 1;
    this.#wake();
  };

  readonly close = (reason = 'closed'): void => {
    this.end ??= reason;
    this.#wake();
  };

  /** The first that fits, past or future. */
  until<Message extends ServerMessage>(fits: (message: ServerMessage) => message is Message): Promise<Message>;
  until(fits: (message: ServerMessage) => boolean): Promise<ServerMessage>;
  until(fits: (message: ServerMessage) => boolean): Promise<ServerMessage> {
    return this.#find(() => this.messages.find(fits));
  }

  terminal(requestId: string): Promise<Terminal> {
    return this.nthTerminal(requestId, 0);
  }

  /** The answer to a message that was refused without a trustworthy id; `nth` counts from 0. */
  refusal(nth = 0): Promise<Terminal> {
    return this.nthTerminal(null, nth);
  }

  nthTerminal(requestId: string | null, nth: number): Promise<Terminal> {
    return this.#find(() => this.terminals(requestId)[nth]);
  }

  get acks(): number {
    return this.messages.filter(({ type }) => type === 'SessionAck').length;
  }

  /** Resolves when so many SessionAcks have come, or no more can. */
  async acknowledged(count: number): Promise<void> {
    await this.#watch(() => (this.acks >= count || this.end !== undefined ? true : undefined));
  }

  untilEnd(): Promise<string> {
    return this.#watch(() => this.end);
  }

  terminals(requestId: string | null): readonly Terminal[] {
    return this.messages.filter(isTerminal).filter((message) => message.request_id === requestId);
  }

  events(requestId: string): readonly EventMessage[] {
    return this.messages.flatMap((message) =>
      message.type === 'EventMessage' && message.request_id === requestId ? [message] : [],
    );
  }

  #find<Found>(look: () => Found | undefined): Promise<Found> {
    return this.#watch(() => {
      const found = look();
      if (found === undefined && this.end !== undefined) {
        throw new TypeError(`Ended (${this.end}) without it: ${this.#outline()}`);
      }
      return found;
    });
  }

  /** Looks after every change until there is something. */
  #watch<Found>(look: () => Found | undefined): Promise<Found> {
    const { promise, resolve, reject } = Promise.withResolvers<Found>();
    const attempt = (): void => {
      try {
        const found = look();
        if (found === undefined) return;
        this.#watchers.delete(attempt);
        resolve(found);
      } catch (thrown) {
        this.#watchers.delete(attempt);
        reject(thrown);
      }
    };
    this.#watchers.add(attempt);
    attempt();
    return within(promise, () => this.#outline());
  }

  #wake(): void {
    for (const attempt of [...this.#watchers]) attempt();
  }

  #outline(): string {
    const told = this.messages.filter(({ type }) => type !== 'Heartbeat');
    return JSON.stringify(told.slice(-10)).slice(-2000);
  }
}

export function isTerminal(message: ServerMessage): message is Terminal {
  return message.type === 'ToolResponse' || message.type === 'ErrorMessage';
}

/** `ok`, or the code of the first error, or the reason of a refusal. */
export function outcomeOf(message: Terminal): string {
  if (message.type === 'ErrorMessage') return `refused ${String(message.details?.['reason'])}`;
  return message.ok ? 'ok' : String(message.errors[0]?.code);
}
