/**
 * A coordinator reached over HTTP. Only the operator can set its address; a registry cannot.
 *
 * Answers are read strictly; whatever is wrong with one is thrown, and the runtime decides what that means. A question
 * too large to be asked is answered here with a no: otherwise size would be a way past a coordinator that is not
 * required.
 */
import {
  type CoordinatorBudget,
  type CoordinatorCallBody,
  type CoordinatorPlanBody,
  coordinatorBudgetSchema,
  coordinatorVerdictSchema,
  isToolError,
  scanJson,
  ToolError,
} from '@tool-runtime/protocol';
import type { Coordinator, CoordinatorCall, CoordinatorPlan } from '@tool-runtime/sdk';
import { createSpendQueue } from './spend-queue.ts';

const MAX_QUESTION_BYTES = 1024 * 1024;

const TOO_LARGE = {
  verdict: 'deny',
  reason: 'question_too_large',
  message: `The coordinator cannot be asked: the question has more than ${MAX_QUESTION_BYTES} bytes`,
} as const satisfies CoordinatorBudget;

export type HttpCoordinatorOptions = CoordinatorLineOptions;

export interface HttpCoordinator extends Required<Coordinator> {
  /** Sends the reports that still wait, once. */
  close(): Promise<void>;
}

/** Throws TypeError for an address that cannot be used. */
export function httpCoordinator(options: HttpCoordinatorOptions): HttpCoordinator {
  const line = openCoordinatorLine(options);
  const reports = createSpendQueue(async (body) => {
    await line.post('spend', JSON.stringify(body));
  });
  return {
    async proposePlan(plan, signal) {
      const text = fittingText(planBody(plan), withoutStepArgs);
      return text === undefined ? TOO_LARGE : coordinatorVerdictSchema.parse(await line.post('plan', text, signal));
    },
    async reserve(call, signal) {
      const text = fittingText(callBody(call), withoutArgs);
      return text === undefined ? TOO_LARGE : coordinatorBudgetSchema.parse(await line.post('budget', text, signal));
    },
    async evaluate(call, signal) {
      const text = fittingText(callBody(call), withoutArgs);
      return text === undefined ? TOO_LARGE : coordinatorVerdictSchema.parse(await line.post('policy', text, signal));
    },
    spend({ callId, sessionId, tool, actor, client }, { status, bytes, durationMs }) {
      const identity = { call_id: callId, session_id: sessionId, tool, actor, client };
      reports.add({ ...identity, status, bytes, duration_ms: durationMs });
    },
    close: () => reports.close(),
  };
}

/** Shared arguments are the first to go. */
function fittingText<Body>(body: Body, lighten: (body: Body) => Body): string | undefined {
  const text = JSON.stringify(body);
  if (fits(text)) return text;
  const lighter = JSON.stringify(lighten(body));
  return fits(lighter) ? lighter : undefined;
}

function fits(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_QUESTION_BYTES;
}

function callBody(call: CoordinatorCall): CoordinatorCallBody {
  return {
    call_id: call.callId,
    session_id: call.sessionId,
    request_id: call.requestId,
    tool: call.tool,
    actor: call.actor,
    client: call.client,
    args_hash: call.argsHash,
    args_summary: call.argsSummary,
    profile: call.profile,
    mutation_class: call.mutationClass,
    paths: call.paths,
    ...(call.args === undefined ? {} : { args: call.args }),
  };
}

function withoutArgs({ args, ...rest }: CoordinatorCallBody): CoordinatorCallBody {
  return args === undefined ? rest : { ...rest, args_omitted: true };
}

function planBody(plan: CoordinatorPlan): CoordinatorPlanBody {
  return {
    plan_id: plan.planId,
    session_id: plan.sessionId,
    actor: plan.actor,
    client: plan.client,
    ...(plan.note === undefined ? {} : { note: plan.note }),
    steps: plan.steps.map(({ argsHash, argsSummary, tool, verdict, paths, profile, args }) => ({
      tool,
      verdict,
      args_hash: argsHash,
      args_summary: argsSummary,
      paths,
      ...(profile === undefined ? {} : { profile }),
      ...(args === undefined ? {} : { args }),
    })),
  };
}

function withoutStepArgs({ steps, ...plan }: CoordinatorPlanBody): CoordinatorPlanBody {
  return { ...plan, args_omitted: true, steps: steps.map(({ args: _, ...step }) => step) };
}

const MAX_ANSWER_BYTES = 64 * 1024;
const DEFAULT_TIMEOUT_MS = 60_000;

interface CoordinatorLineOptions {
  /** `http:` or `https:`; the questions are POSTed to `{url}/plan` and so on. */
  readonly url: string;
  /** Sent as bearer token. */
  readonly token?: string;
  /** The registry's limit of an answer is usually shorter; this one also holds for reports. Default: a minute. */
  readonly timeoutMs?: number;
  /** In place of the platform's own. */
  readonly fetch?: typeof globalThis.fetch;
}

interface CoordinatorLine {
  /** The parsed answer; undefined for an empty one. */
  post(name: string, text: string, signal?: AbortSignal): Promise<unknown>;
}

/**
 * The connection to a coordinator: JSON both ways, bounded. Redirects are not followed, so the token is sent nowhere
 * else.
 *
 * Connections are kept alive by the runtime's own pool. Every failure is E_HTTP without the text of the answer, which
 * may hold anything.
 *
 * Throws TypeError for an address that cannot be used.
 */
function openCoordinatorLine(options: CoordinatorLineOptions): CoordinatorLine {
  const { token, timeoutMs = DEFAULT_TIMEOUT_MS, fetch = globalThis.fetch } = options;
  const base = checkedBase(options);
  if (!(timeoutMs > 0)) throw new TypeError('Time limit of the coordinator must be positive');
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  };
  return {
    async post(name, text, signal) {
      const limit = AbortSignal.timeout(timeoutMs);
      try {
        const response = await fetch(`${base}/${name}`, {
          method: 'POST',
          headers,
          body: text,
          redirect: 'error',
          signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        });
        return await readAnswer(response, name);
      } catch (thrown) {
        if (isToolError(thrown)) throw thrown;
        throw new ToolError('E_HTTP', `Coordinator could not be reached: ${name}`, { cause: thrown });
      }
    },
  };
}

function checkedBase({ url, token }: CoordinatorLineOptions): string {
  if (!URL.canParse(url)) throw new TypeError('Address of the coordinator is not a URL');
  const parsed = new URL(url);
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new TypeError('Address of the coordinator must begin with https:// or http://');
  }
  if (parsed.username !== '' || parsed.password !== '' || parsed.search !== '' || parsed.hash !== '') {
    throw new TypeError('Address of the coordinator must not hold credentials, a query or a fragment');
  }
  if (token !== undefined && parsed.protocol === 'http:' && !isLoopback(parsed.hostname)) {
    throw new TypeError('Token of the coordinator would travel in the clear: use https://');
  }
  return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`;
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

async function readAnswer(response: Response, name: string): Promise<unknown> {
  if (!response.ok) {
    await response.body?.cancel();
    throw new ToolError('E_HTTP', `Coordinator answered with status ${response.status}: ${name}`, {
      details: { status: response.status },
    });
  }
  const text = await readBounded(response, name);
  if (text === '') return undefined;
  scanJson(text, { maxBytes: MAX_ANSWER_BYTES });
  return JSON.parse(text);
}

/**
 * Leaving the loop early cancels the rest. Unpacked bytes are counted, so a small compressed body cannot become a large
 * one.
 */
async function readBounded({ body }: Response, name: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.byteLength;
    if (size > MAX_ANSWER_BYTES) {
      throw new ToolError('E_HTTP', `Coordinator answered with more than ${MAX_ANSWER_BYTES} bytes: ${name}`);
    }
    pieces.push(piece);
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces));
}
