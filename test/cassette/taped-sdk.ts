/** What examples import instead of the sdk. */
import { createRuntime as createPlain, type Runtime, type RuntimeOptions } from '../../packages/sdk/src/index.ts';
import { nextTape, noting } from './next-tape.ts';

export { defineRule, defineTool } from '../../packages/sdk/src/index.ts';

export async function createRuntime(options: RuntimeOptions): Promise<Runtime> {
  const { cassette, number } = nextTape();
  const runtime = await createPlain({ ...options, cassette });
  return { ...runtime, openSession: async (how) => noting(await runtime.openSession(how), number) };
}
