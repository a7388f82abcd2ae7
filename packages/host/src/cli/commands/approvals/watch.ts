/**
 * Asks the person at a terminal: one question after the other, one key for an answer. An answer given elsewhere counts as well:
 * a question that is gone leaves the screen. The terminal is given back as it was.
 */
import { createInterface } from 'node:readline';
import type { ReadStream } from 'node:tty';
import { type AnswerApprovalBody, isToolError, type JsonObject, type PendingApproval } from '@tool-runtime/protocol';
import { plainText, printLine, showError } from '../../../terminal/terminal.ts';
import { describeQuestion, type QuestionDesk, shortId } from './desk.ts';

const POLL_MS = 300;
const KEYS = '[y] yes  [s] yes for this session  [n] no  [e] edit  [q] quit';

export interface WatchOptions {
  readonly input: ReadStream;
  /** Ends the watch from outside. */
  readonly signal?: AbortSignal;
}

/** Until the person quits, the host goes away or the signal fires. */
export async function watchQuestions(desk: QuestionDesk, options: WatchOptions): Promise<void> {
  const keys = openKeys(options);
  const seen = new Set<string>();
  try {
    printLine('waiting for questions; q or Ctrl-C ends this');
    for (;;) {
      const all = await desk.list();
      const question = all.find(({ approval_id }) => !seen.has(approval_id));
      if (question === undefined) {
        if ((await keys.next(POLL_MS)) === 'q') return;
        continue;
      }
      if (!(await askOne(question, { desk, keys, all }))) return;
      seen.add(question.approval_id);
    }
  } finally {
    keys.close();
  }
}

interface Asking {
  readonly desk: QuestionDesk;
  readonly keys: Keys;
  readonly all: readonly PendingApproval[];
}

/** False: the person quits. */
async function askOne(question: PendingApproval, { desk, keys, all }: Asking): Promise<boolean> {
  for (const line of describeQuestion(question, all)) printLine(line);
  printLine(KEYS);
  for (;;) {
    const key = await keys.next(POLL_MS);
    if (key === 'q') return false;
    if (key === undefined) {
      const open = await desk.list();
      if (open.some(({ approval_id }) => approval_id === question.approval_id)) continue;
      printLine('answered elsewhere, or its time is up');
      return true;
    }
    const body = await bodyFor(key, question, keys);
    if (body === undefined) continue;
    await give(question, body, desk, shortId(question.approval_id, all));
    return true;
  }
}

/** Undefined for a key that means nothing, and for an edit that is not JSON. */
async function bodyFor(key: string, { args }: PendingApproval, keys: Keys): Promise<AnswerApprovalBody | undefined> {
  if (key === 'y') return { answer: 'approved' };
  if (key === 's') return { answer: 'approved_for_session' };
  if (key === 'n') {
    const reason = (await keys.line('reason (Enter for none): ')).trim();
    return { answer: 'denied', ...(reason === '' ? {} : { reason }) };
  }
  if (key !== 'e') return undefined;
  const text = await keys.line('arguments: ', JSON.stringify(args));
  try {
    const edited: unknown = JSON.parse(text);
    if (typeof edited === 'object' && edited !== null && !Array.isArray(edited)) {
      return { answer: 'approved', args: edited as JsonObject };
    }
  } catch {
    // Said below, the same for everything that is no object.
  }
  printLine(`not a JSON object, so nothing was answered\n${KEYS}`);
  return undefined;
}

async function give(
  question: PendingApproval,
  body: AnswerApprovalBody,
  desk: QuestionDesk,
  id: string,
): Promise<void> {
  try {
    const { answer, by } = await desk.answer(question.approval_id, body);
    printLine(`${id} ${answer} by ${plainText(by)}${body.args === undefined ? '' : ', with edited arguments'}`);
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    showError(thrown.message);
  }
}

interface Keys {
  /** The next key; `q` also for Ctrl-C, Ctrl-D, a closed terminal and the signal; undefined when none came in time. */
  next(atMostMs: number): Promise<string | undefined>;
  /** A line that can be edited, beginning with `text`. */
  line(prompt: string, text?: string): Promise<string>;
  close(): void;
}

function openKeys({ input, signal }: WatchOptions): Keys {
  const waiting: string[] = [];
  let wake: (() => void) | undefined;
  const push = (key: string): void => {
    waiting.push(key);
    wake?.();
  };
  const onData = (chunk: Buffer): void => {
    for (const letter of chunk.toString('utf8')) push('\u0003\u0004'.includes(letter) ? 'q' : letter.toLowerCase());
  };
  const quit = (): void => push('q');
  const listen = (): void => {
    input.setRawMode(true);
    input.on('data', onData);
    input.resume();
  };
  const leave = (): void => {
    input.off('data', onData);
    input.setRawMode(false);
    input.pause();
  };
  input.on('end', quit);
  signal?.addEventListener('abort', quit, { once: true });
  listen();
  return {
    async next(atMostMs) {
      if (waiting.length === 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const timer = setTimeout(resolve, atMostMs);
        wake = resolve;
        await promise;
        clearTimeout(timer);
      }
      return waiting.shift();
    },
    async line(prompt, text) {
      leave();
      const reader = createInterface({ input, output: process.stdout, terminal: true });
      const { promise, resolve } = Promise.withResolvers<string>();
      reader.question(prompt, resolve);
      reader.once('close', () => resolve(''));
      if (text !== undefined) reader.write(text);
      const line = await promise;
      reader.close();
      listen();
      return line;
    },
    close() {
      leave();
      input.off('end', quit);
      signal?.removeEventListener('abort', quit);
    },
  };
}
