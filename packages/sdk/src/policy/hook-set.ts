/**
 * Runs the hooks that concern a tool, in the order they were registered.
 *
 * The first denial ends it; changes chain; a hook that throws, or answers something unknown, is a denial. Changed
 * arguments are only returned: judging them is the caller's duty.
 */
import { isJsonObject, isJsonValue, type JsonObject, type JsonValue, type ToolError } from '@tool-runtime/protocol';
import { failure, policyDenial } from '../contracts/failures.ts';
import type { AfterHookAnswer, BeforeHookAnswer, CallView, Hook } from '../contracts/policy.ts';
import type { MaybePromise } from '../contracts/workspace.ts';
import { compileGlob } from '../glob/match-glob.ts';

export const MAX_HOOK_CHANGES = 16;

export interface HookDenial {
  readonly type: 'deny';
  readonly hook: string;
  readonly reason: string;
  /** Ready to be thrown: `policy_denial`, or `hook_failure` where the hook broke. */
  readonly error: ToolError;
}

export type BeforeOutcome =
  | { readonly type: 'allow' }
  | HookDenial
  | { readonly type: 'modified'; readonly args: JsonObject; readonly hooks: readonly string[] };

export type AfterOutcome =
  | { readonly type: 'pass' }
  | HookDenial
  | { readonly type: 'modified'; readonly data: JsonValue; readonly hooks: readonly string[] };

export interface BeforeOptions {
  /**
   * Builds what the next hook sees after a change. Without it later hooks see the new arguments beside the old paths
   * and summary, so pass it whenever more than one hook may run.
   */
  onModified?(change: { readonly hook: string; readonly args: JsonObject }, before: CallView): MaybePromise<CallView>;
}

export interface HookSet {
  readonly isEmpty: boolean;
  runBefore(call: CallView, options?: BeforeOptions): MaybePromise<BeforeOutcome>;
  runAfter(call: CallView, data: JsonValue): MaybePromise<AfterOutcome>;
}

/** Only hooks that have something to say at that point; called as methods, so that a hook may be an object of a class. */
interface ToolHooks {
  readonly before: readonly Hook[];
  readonly after: readonly Hook[];
}

const ALLOW = { type: 'allow' } as const;
const PASS = { type: 'pass' } as const;
const MAX_REMEMBERED = 1024;

/** Throws TypeError for a missing or repeated id and E_VALIDATION_FAIL for a bad tool pattern. */
export function compileHooks(hooks: readonly Hook[]): HookSet {
  checkHookIds(hooks);
  const matchers = hooks.map((hook) => ({ hook, matches: compileGlob(hook.tools) }));
  const remembered = new Map<string, ToolHooks>();
  const hooksOf = (tool: string): ToolHooks => {
    let known = remembered.get(tool);
    if (known === undefined) {
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      known = pointsOf(matchers.filter(({ matches }) => matches(tool)).map(({ hook }) => hook));
      remembered.set(tool, known);
    }
    return known;
  };
  return {
    isEmpty: hooks.length === 0,
    runBefore(call, options = {}) {
      const { before } = hooksOf(call.tool);
      return before.length === 0 ? ALLOW : runBefore(before, call, options);
    },
    runAfter(call, data) {
      const { after } = hooksOf(call.tool);
      return after.length === 0 ? PASS : runAfter(after, call, data);
    },
  };
}

function checkHookIds(hooks: readonly Hook[]): void {
  const ids = new Set<string>();
  for (const { id } of hooks) {
    if (typeof id !== 'string' || id === '') throw new TypeError('Hook has no id');
    if (ids.has(id)) throw new TypeError(`Hook is registered twice: ${id}`);
    ids.add(id);
  }
}

function pointsOf(hooks: readonly Hook[]): ToolHooks {
  return {
    before: hooks.filter((hook) => hook.before !== undefined),
    after: hooks.filter((hook) => hook.after !== undefined),
  };
}

/**
 * Hooks get copies and give copies: one that keeps or edits an object in place cannot change what is judged later.
 */
async function runBefore(hooks: readonly Hook[], call: CallView, options: BeforeOptions): Promise<BeforeOutcome> {
  const changedBy: string[] = [];
  let view = call;
  for (const hook of hooks) {
    const shown = { ...view, args: structuredClone(view.args) };
    const answer = await settleHook<BeforeHookAnswer | undefined>(hook.id, () => hook.before?.(shown));
    if (answer.type === 'broken') return answer.denial;
    const { value } = answer;
    if (value?.type === 'allow') continue;
    if (value?.type === 'deny') return denied(hook.id, String(value.reason));
    if (value?.type !== 'modify' || !isJsonObject(value.args)) return broken(hook.id, 'gave an unknown answer');
    if (changedBy.length === MAX_HOOK_CHANGES) return broken(hook.id, 'made one change too many');
    changedBy.push(hook.id);
    const args = structuredClone(value.args);
    view = (await options.onModified?.({ hook: hook.id, args }, view)) ?? { ...view, args };
  }
  return changedBy.length === 0 ? ALLOW : { type: 'modified', args: view.args, hooks: changedBy };
}

async function runAfter(hooks: readonly Hook[], call: CallView, data: JsonValue): Promise<AfterOutcome> {
  const changedBy: string[] = [];
  let current = data;
  for (const hook of hooks) {
    const shown = structuredClone(current);
    const answer = await settleHook<AfterHookAnswer | undefined>(hook.id, () => hook.after?.(call, shown));
    if (answer.type === 'broken') return answer.denial;
    const { value } = answer;
    if (value?.type === 'pass') continue;
    if (value?.type !== 'modify' || !isJsonValue(value.data)) return broken(hook.id, 'gave an unknown answer');
    if (changedBy.length === MAX_HOOK_CHANGES) return broken(hook.id, 'made one change too many');
    changedBy.push(hook.id);
    current = structuredClone(value.data);
  }
  return changedBy.length === 0 ? PASS : { type: 'modified', data: current, hooks: changedBy };
}

type HookAnswer<T> = { type: 'value'; value: T } | { type: 'broken'; denial: HookDenial };

/** A hook's exception stops here because it is an answer: a gate that breaks is a gate that stays shut. */
async function settleHook<T>(id: string, run: () => MaybePromise<T>): Promise<HookAnswer<T>> {
  try {
    return { type: 'value', value: await run() };
  } catch (thrown) {
    return { type: 'broken', denial: broken(id, 'threw', thrown) };
  }
}

function denied(hook: string, reason: string): HookDenial {
  const error = policyDenial(`Hook denied the call: ${hook}`, {
    details: { gate: 'hook', hook, reason: 'hook.denied', why: reason, next: 'change the call as the hook asks' },
  });
  return { type: 'deny', hook, reason, error };
}

function broken(hook: string, what: string, cause?: unknown): HookDenial {
  const error = failure('hook_failure', 'host_configuration_needed', `Hook ${what}: ${hook}`, {
    details: { gate: 'hook', hook, reason: 'hook.failed', next: 'ask the operator to fix the hook' },
    cause,
  });
  return { type: 'deny', hook, reason: 'hook.failed', error };
}
