/** Chooses how processes are started. One spawner for each host is enough; it holds nothing while no process runs. */
import { isMainThread } from 'node:worker_threads';
import { loadNativeSpawn } from './native-spawn.ts';
import { keepingProcesses } from './process-keeper.ts';
import type { Spawner } from './spawned-process.ts';
import { createNativeSpawner } from './spawner-native.ts';
import { createNodeSpawner } from './spawner-node.ts';

export interface SpawnerOptions {
  /** `node` never loads native code. Default: native where it works. */
  readonly backend?: 'native' | 'node';
}

export function createSpawner(options: SpawnerOptions = {}): Spawner {
  // Only the main thread hears signals, and without them the end of a child would be noticed late.
  const native = options.backend === 'node' || !isMainThread ? undefined : loadNativeSpawn();
  if (native !== undefined) return keepingProcesses(createNativeSpawner(native));
  if (options.backend === 'native') throw new TypeError('Native process start is not available here');
  return keepingProcesses(createNodeSpawner());
}
