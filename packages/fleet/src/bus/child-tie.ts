/**
 * A child of a session on another host that works on this one: takes it, hears when it is to end, and says what it used.
 *
 * One request stays open as long as the child works; the grant is its first line. When it breaks it is made again under the
 * same name. After a while without each other, the parent's host and this one end the child, each on its side.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import {
  errorMessageSchema,
  isToolError,
  type JsonObject,
  type ReportChildBody,
  ToolError,
} from '@tool-runtime/protocol';
import { sleep } from '../wire/sleep.ts';
import type { Dialer } from './dial.ts';
import { askThrough } from './tunnel-fetch.ts';

export interface ChildAsked {
  /** The one the parent works in. */
  readonly workspace: string;
  readonly session_id: string;
  /** The child's own. */
  readonly token: string;
  /** Of the principal that has shown it to this host. */
  readonly name: string;
}

/** What the parent's host wants; `lost` when it is not heard of any more. */
export type AskedOfChild = 'end' | 'cancel' | 'lost';
type ChildEnd = NonNullable<ReportChildBody['ended']>;
type ChildReport = Pick<ReportChildBody, 'usage' | 'spent'>;

export interface ChildTie {
  /** With the package that it names. */
  readonly grant: JsonObject;
  onAsked(listener: (asked: AskedOfChild) => void): void;
  /** All that was used so far. Never rejects: a report that does not arrive is made good by the next. */
  report(report: ChildReport): Promise<void>;
  /** The last report, tried as long as the parent's host waits for it. Never rejects. */
  finish(report: ChildReport, ended: ChildEnd): Promise<void>;
}

/** Less than the parent's host waits: the child has stopped here before its share is given up there. */
const PATIENCE_MS = 5000;
const PAUSE_MS = 100;

type Lines = AsyncIterator<string>;

interface TieParts {
  readonly dialer: Dialer;
  /** By the name that the parent's host gave it. */
  getPackage(reference: string): Promise<Uint8Array>;
}

export async function takeChild({ dialer, getPackage }: TieParts, asked: ChildAsked): Promise<ChildTie> {
  const path = `/v1/sessions/${encodeURIComponent(asked.session_id)}/elsewhere`;
  const holder = randomUUID();
  const stop = new AbortController();
  const heard: AskedOfChild[] = [];
  let tell = (said: AskedOfChild): void => void heard.push(said);

  const post = (to: string, body: object, signal?: AbortSignal): Promise<IncomingMessage> =>
    askThrough(dialer.openFor(asked.workspace, asked.name), {
      method: 'POST',
      path: to,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, holder }),
      ...(signal === undefined ? {} : { signal }),
    });

  /** Rejects when the host cannot be reached; what it says against it is an answer. */
  async function open(): Promise<{ readonly grant: string; readonly lines: Lines } | ToolError> {
    const answer = await post(path, { token: asked.token }, stop.signal);
    if (answer.statusCode !== 200) return refusalOf(await text(answer));
    answer.on('error', () => answer.destroy());
    const lines = createInterface({ input: answer })[Symbol.asyncIterator]();
    const first = await lines.next();
    if (first.done === true) throw brokenOff();
    return { grant: first.value, lines };
  }

  async function openAgain(): Promise<Lines | undefined> {
    const until = performance.now() + PATIENCE_MS;
    while (!stop.signal.aborted && performance.now() < until) {
      const opened = await open().catch(() => undefined);
      if (opened !== undefined) return isToolError(opened) ? undefined : opened.lines;
      await sleep(PAUSE_MS, stop.signal);
    }
    return undefined;
  }

  async function listen(first: Lines): Promise<void> {
    let lines: Lines | undefined = first;
    while (lines !== undefined && !stop.signal.aborted) {
      // However it breaks off, there is nothing more to know about it.
      const next: IteratorResult<string> | undefined = await lines.next().catch(() => undefined);
      if (next !== undefined && next.done !== true) tell(askedIn(next.value));
      else lines = await openAgain();
    }
    if (!stop.signal.aborted) tell('lost');
  }

  async function finish(report: ChildReport, ended: ChildEnd): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    let isSaid = false;
    while (!isSaid && performance.now() < until) {
      // Whatever it is answered: who answers knows the end, or does not have the child any more.
      isSaid = await post(`${path}/report`, { ...report, ended }).then(
        (answer) => {
          answer.resume();
          return true;
        },
        () => false,
      );
      if (!isSaid) await sleep(PAUSE_MS);
    }
    stop.abort();
  }

  const opened = await open();
  if (isToolError(opened)) throw opened;
  const grant = await wholeGrant(opened.grant, getPackage).catch(async (thrown: unknown) => {
    await finish(NOTHING, 'cancelled');
    throw thrown;
  });
  void listen(opened.lines).catch(() => tell('lost'));
  return {
    grant,
    onAsked(listener) {
      tell = listener;
      for (const said of heard) listener(said);
    },
    async report(report) {
      await post(`${path}/report`, report).then(
        (answer) => void answer.resume(),
        () => undefined,
      );
    },
    finish,
  };
}

const NOTHING: ChildReport = { usage: { calls: 0, errors: 0, bytes: 0, duration_ms: 0 }, spent: {} };

/** The package comes from the object store, where the parent's host has put it under its digest. */
async function wholeGrant(line: string, getPackage: TieParts['getPackage']): Promise<JsonObject> {
  const { package_ref: reference, ...grant } = JSON.parse(line) as JsonObject;
  return { ...grant, package: JSON.parse(Buffer.from(await getPackage(String(reference))).toString()) };
}

function askedIn(line: string): AskedOfChild {
  return (JSON.parse(line) as { readonly asked?: unknown }).asked === 'end' ? 'end' : 'cancel';
}

function refusalOf(body: string): ToolError {
  const parsed = errorMessageSchema.safeParse(JSON.parse(body));
  if (!parsed.success) return new ToolError('E_INTERNAL', 'The host of the parent could not be understood');
  const { code, message, details } = parsed.data;
  return new ToolError(code, message, details === undefined ? {} : { details: details as JsonObject });
}

function brokenOff(): ToolError {
  return new ToolError('E_HTTP', "The answer of the parent's host broke off", {
    details: { reason: 'host_lost', retry: 'retryable', next: 'open the child again' },
  });
}
