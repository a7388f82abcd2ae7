/** The fixture of the conformance suite as a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from '../compile-cache.ts';
import type { FixtureReport } from '../fixture/serve.ts';

export interface Fixture {
  readonly url: string;
  /** What its journal says about everything that happened. */
  stop(): Promise<FixtureReport>;
}

const PROGRAM = fileURLToPath(import.meta.resolve('../fixture/serve.ts'));

export async function startFixture(): Promise<Fixture> {
  const child: ChildProcess = spawn(process.execPath, ['-C', 'tool-runtime-source', PROGRAM], {
    env: { ...process.env, ...COMPILE_CACHE },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  const nextLine = async <T>(): Promise<T> => {
    const { value, done } = await lines.next();
    if (done === true) throw new TypeError('The fixture ended early');
    return JSON.parse(value as string) as T;
  };
  const { url } = await nextLine<{ url: string }>();
  return {
    url,
    async stop() {
      const ended = once(child, 'exit');
      child.stdin?.end();
      const report = await nextLine<FixtureReport>();
      await ended;
      return report;
    },
  };
}
