/** One try to get in, as a plain request or as a WebSocket, and what came of it. */
import { type TestHost, TOKENS } from '../open-host.ts';
import { exchange, type RawAnswer } from '../wire/raw-http.ts';
import { type Address, addressOf } from '../wire/raw-socket.ts';
import { upgrade } from '../wire/raw-web-socket.ts';

export interface Attempt {
  readonly as?: 'request' | 'upgrade';
  /** By default `/v1/status` or `/v1/ws`. */
  readonly target?: string;
  readonly method?: string;
  readonly host?: string;
  /** By default the operator's; null sends none. */
  readonly token?: string | null;
  readonly headers?: readonly string[];
  readonly body?: string;
}

/** `200`, or `403 origin_not_allowed`. */
export async function attempt(host: TestHost, how: Attempt, address: Address = addressOf(host.url)): Promise<string> {
  const { as = 'request', token = TOKENS.operator, ...rest } = how;
  const given = {
    host: new URL(host.url).host,
    ...rest,
    ...(token === null ? {} : { token }),
  };
  if (as === 'request') return outcomeOf(await exchange(address, { target: '/v1/status', ...given }));
  const { socket, answer } = await upgrade(address, given);
  socket.cut();
  return outcomeOf(answer);
}

export function outcomeOf(answer: RawAnswer): string {
  if (answer.status < 400 || answer.body.length === 0) return String(answer.status);
  const { details } = answer.json() as { details?: { reason?: string } };
  return `${answer.status} ${details?.reason}`;
}
