/** What examples import instead of the host. */
import { type StartHostOptions, startHost as startPlain } from '../../packages/host/src/index.ts';
import { nextTape } from './next-tape.ts';

export function startHost(options: StartHostOptions): ReturnType<typeof startPlain> {
  const { cassette } = nextTape();
  const given = typeof options.runtime === 'function' ? options.runtime() : options.runtime;
  return startPlain({ ...options, runtime: { ...given, cassette } });
}
