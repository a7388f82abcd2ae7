/** Scenes in which one keyed call each is stopped at a point of its path by the death of its process (SIGKILL). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import { createRuntime, type Runtime } from '../src/index.ts';

export const POINTS = ['before-intent', 'after-intent', 'after-effect', 'after-result'] as const;
export type Point = (typeof POINTS)[number];

export interface StoppedScene {
  readonly id: string;
  readonly workspace: string;
  readonly state: string;
  readonly registry: string;
  readonly point: Point;
  readonly tool: string;
  readonly args: JsonObject;
  /** Calls without a key that come first; a `job` in their answers is added to the arguments. */
  readonly first?: readonly { readonly tool: string; readonly args: JsonObject }[];
}

export interface Stopped {
  /** As they were sent in the end. */
  readonly args: JsonObject;
  /** What the lost call was about to answer, where it came so far. */
  readonly answer: JsonObject | null;
}

export interface StoppedCalls {
  readonly stopped: ReadonlyMap<string, Stopped>;
  /** SIGKILL; answers when the process is gone. */
  kill(): Promise<void>;
}

/**
 * A registry under which no call of these tools runs out of time. A stopped call waits inside its own time limit until all
 * others have come to their points; on a busy machine that takes longer than the limit, and the call would end instead of
 * dying with its process.
 */
export function withoutHurry(registry: string, tools: readonly string[]): string {
  const limits = [...new Set(tools)].map((tool) => `  ${tool}: {timeout_ms: ${HOUR_MS}, max_timeout_ms: ${HOUR_MS}}\n`);
  return `${registry}tools:\n${limits.join('')}`;
}

const HOUR_MS = 3_600_000;

const CHILD = new URL('./keyed-crash-child.ts', import.meta.url).pathname;

/** Starts all calls in one process and answers when each has reached its point. */
export async function stopCalls(scenes: readonly StoppedScene[], child = CHILD): Promise<StoppedCalls> {
  const running = spawn(process.execPath, ['-C', 'tool-runtime-source', child, JSON.stringify(scenes)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stopped = new Map<string, Stopped>();
  for await (const line of createInterface({ input: running.stdout })) {
    const { id, ...one } = JSON.parse(line) as Stopped & { readonly id: string };
    stopped.set(id, one);
    if (stopped.size === scenes.length) break;
  }
  if (stopped.size < scenes.length) throw new Error(`The child ended after ${stopped.size} of ${scenes.length} calls`);
  return {
    stopped,
    async kill() {
      const gone = once(running, 'exit');
      running.kill('SIGKILL');
      await gone;
    },
  };
}

export type RetriedScene = Pick<StoppedScene, 'workspace' | 'state' | 'registry' | 'tool' | 'args'>;

/** The same call with the same key, by a process that starts on the state folder. */
export async function retry(scene: RetriedScene): Promise<ToolResponse> {
  const runtime = await openOn(scene);
  try {
    return await retryIn(runtime, scene);
  } finally {
    await runtime.close();
  }
}

export function openOn({ workspace, state, registry }: RetriedScene): Promise<Runtime> {
  return createRuntime({ workspace, state, registry: { file: 'ops.yaml', text: registry } });
}

export async function retryIn(runtime: Runtime, { tool, args }: RetriedScene): Promise<ToolResponse> {
  const session = await runtime.openSession({ actor: 'crash', client: 'retry' });
  return session.call(tool, args, { idempotencyKey: 'only-once' });
}
