/**
 * Makes one keyed call in each of the given scenes and stops each at its point, without ending the process.
 *
 * Says a line of JSON for every scene that has stopped; keyed-crash.ts kills the whole process (SIGKILL) once all have.
 */
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { createRuntime, type RuntimeOptions } from '../src/index.ts';
import type { StoppedScene } from './keyed-crash.ts';

const scenes = JSON.parse(process.argv[2] ?? '[]') as readonly StoppedScene[];
const SIDE_BY_SIDE = 3;

// Every runtime listens for the end of its commands.
process.setMaxListeners(0);
/** Nothing else would keep the process alive. */
setInterval(() => {}, 1000);

async function stop(scene: StoppedScene, tools: RuntimeOptions['tools'] = []): Promise<void> {
  const { workspace, state, registry, point } = scene;
  let args = scene.args;
  const stopped = Promise.withResolvers<void>();
  const stopHere = (answer?: JsonValue): Promise<never> => {
    process.stdout.write(`${JSON.stringify({ id: scene.id, args, answer: answer ?? null })}\n`);
    stopped.resolve();
    return new Promise(() => {});
  };
  const runtime = await createRuntime({
    ...{ workspace, state, tools, registry: { file: 'ops.yaml', text: registry } },
    ports: {
      wrapParts: (parts) => ({
        ...parts,
        journal: {
          ...parts.journal,
          async claim(claim, records) {
            if (point === 'before-intent') await stopHere();
            const answer = await parts.journal.claim(claim, records);
            if (point === 'after-intent') await stopHere();
            return answer;
          },
          async settle(scope, key, answer, records) {
            if (point === 'after-effect') await stopHere(answer);
            await parts.journal.settle(scope, key, answer, records);
            if (point === 'after-result') await stopHere(answer);
          },
        },
      }),
    },
  });
  const session = await runtime.openSession({ actor: 'crash', client: 'keyed-crash-child' });
  for (const first of scene.first ?? []) {
    const { ok, data, errors } = await session.call(first.tool, first.args);
    if (!ok) throw new Error(`${first.tool} failed: ${errors[0]?.message}`);
    const job = (data as JsonObject | null)?.['job'];
    if (job !== undefined) args = { ...args, job };
  }
  void session.call(scene.tool, args, { idempotencyKey: 'only-once' }).then((response) => {
    process.stderr.write(`not stopped at ${point}: ${JSON.stringify(response)}\n`);
    process.exit(1);
  });
  await stopped.promise;
}

async function work(queue: StoppedScene[]): Promise<void> {
  for (let scene = queue.shift(); scene !== undefined; scene = queue.shift()) await stop(scene);
}

const queue = [...scenes];
await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => work(queue)));
