/**
 * A keyed call whose process is given up at a point of its path. Faster than killing one: the call never goes on, and its
 * process is taken off the list of the living.
 */
import type { JsonObject, ToolResponse } from '@tool-runtime/protocol';
import { createRuntime } from '../src/index.ts';
import { type Point, type RetriedScene, retryIn } from './keyed-crash.ts';

export interface GivenUp extends RetriedScene {
  /** What the lost call was about to answer. */
  readonly answer: ToolResponse['data'];
  /** Only with `stillAlive`: takes it off the list. */
  giveUp(): void;
}

/** Answers once the call has come to its point and its process is given up. */
export async function crash(
  scene: RetriedScene,
  point: Point,
  options: { readonly stillAlive?: true } = {},
): Promise<GivenUp> {
  const reached = Promise.withResolvers<JsonObject | undefined>();
  const stop = (answer?: JsonObject): Promise<never> => {
    reached.resolve(answer);
    return new Promise(() => {});
  };
  let giveUp = (): void => {};
  const runtime = await createRuntime({
    ...scene,
    registry: { file: 'ops.yaml', text: scene.registry },
    ports: {
      wrapParts(parts) {
        const { journal } = parts;
        giveUp = () => journal.retire(parts.instanceId);
        return {
          ...parts,
          journal: {
            ...journal,
            async claim(claim, records) {
              if (point === 'before-intent') await stop();
              const state = await journal.claim(claim, records);
              if (point === 'after-intent') await stop();
              return state;
            },
            async settle(scope, key, answer, records) {
              if (point === 'after-effect') await stop(answer as JsonObject);
              await journal.settle(scope, key, answer, records);
              if (point === 'after-result') await stop(answer as JsonObject);
            },
          },
        };
      },
    },
  });
  void retryIn(runtime, scene);
  const answer = await reached.promise;
  if (options.stillAlive !== true) giveUp();
  return { ...scene, answer: answer?.['data'] ?? null, giveUp };
}
