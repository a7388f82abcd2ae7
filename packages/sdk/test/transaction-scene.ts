/** A runtime with a session, and short ways to call, write and read, for tests of transactions. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { CallOptions } from '../src/session/session.ts';
import { openScratchRuntime } from '../src/testing/scratch-runtime.ts';
import { readStates } from './commit-crash-scene.ts';

type Args = Record<string, unknown>;

export async function transactionScene(
  t: TestContext,
  { registry = '', shell = 'sandboxed', ...more }: { registry?: string; shell?: string } & Args = {},
) {
  const text = `version: 1\nshell: { mode: ${shell} }\n${registry}`;
  const { runtime, session, workspace, state, dispose } = await openScratchRuntime({
    registry: { text, file: 'registry.yaml' },
    ...more,
  } as never);
  t.after(dispose);
  const path = (name: string) => join(workspace, name);
  const ask = (tool: string, args: Args = {}, options: CallOptions = {}) => session.call(tool as string, args, options);
  return {
    ...{ runtime, session, workspace, state, path, ask },
    put(name: string, text: string) {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), text);
    },
    text: (name: string) => readFileSync(path(name), 'utf8'),
    /** The data of a call that must succeed. */
    async done(tool: string, args: Args = {}, options: CallOptions = {}): Promise<Record<string, unknown>> {
      const answer = await ask(tool, args, options);
      assert.ok(answer.ok, `${tool}: ${JSON.stringify(answer.errors)}`);
      return answer.data as Record<string, unknown>;
    },
    /** The first error of a call that must fail. */
    async refused(tool: string, args: Args = {}, options: CallOptions = {}) {
      const { ok, errors } = await ask(tool, args, options);
      assert.equal(ok, false, tool);
      const [first] = errors;
      assert.ok(first);
      return { code: first.code, message: first.message, ...first.details } as Record<string, unknown>;
    },
    states: () => [...readStates(workspace)].toSorted(([one], [other]) => (one < other ? -1 : 1)),
  };
}
