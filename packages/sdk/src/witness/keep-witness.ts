/** Tells places outside of the state folder how far the journal is: now and then, and when it was closed. */
import { type ToolError, toToolError } from '@tool-runtime/protocol';
import type { ChainHead, JournalStore } from '../contracts/journal.ts';
import type { WitnessSettings } from '../contracts/registry.ts';
import { openWitness, type WitnessMeans, type WitnessPlace } from './witness-places.ts';

/** A file that this user can only add to, or that lies on another machine, is worth most. */
export interface WitnessOptions {
  readonly file?: string;
  /** Ten minutes unless given. */
  readonly everyMs?: number;
}

export interface Witness {
  /** What they have noted of this journal. */
  heads(): readonly ChainHead[];
  /** When the journal is closed. */
  finish(): Promise<void>;
}

const EVERY_MS = 600_000;

interface WitnessSetting {
  readonly parts: { readonly journal: Pick<JournalStore, 'syncedHead'>; reportUnexpected(error: ToolError): void };
  readonly means: WitnessMeans;
  readonly everyMs: number | undefined;
}

interface Told extends WitnessPlace {
  known: ChainHead[];
}

/** Throws ToolError for a file in the workspace or the state folder. A place that cannot be asked is reported. */
export async function keepWitness(settings: readonly WitnessSettings[], setting: WitnessSetting): Promise<Witness> {
  const { parts, means, everyMs = EVERY_MS } = setting;
  if (settings.length === 0) return { heads: () => [], async finish() {} };
  const report = (thrown: unknown): void => parts.reportUnexpected(toToolError(thrown));
  const places = settings.map((one): Told => ({ ...openWitness(one, means), known: [] }));
  await Promise.all(
    places.map(async (place) => {
      place.known = await place.heads().then(
        (heads) => [...heads],
        (thrown: unknown) => {
          report(thrown);
          return [];
        },
      );
    }),
  );
  let telling: Promise<void> = Promise.resolve();
  const tell = (): Promise<void> => {
    telling = telling.then(async () => {
      // Only what is on the disk: a head that a power cut can take would look like a journal that was cut.
      const head = parts.journal.syncedHead?.();
      if (head === undefined) return;
      await Promise.all(places.map((place) => tellOne(place, head).catch(report)));
    });
    return telling;
  };
  const timer = setInterval(() => void tell(), everyMs).unref();
  return {
    heads: () => places.flatMap(({ known }) => known),
    finish() {
      clearInterval(timer);
      return tell();
    },
  };
}

async function tellOne(place: Told, head: ChainHead): Promise<void> {
  if (place.known.at(-1)?.mac === head.mac) return;
  await place.add(head);
  place.known.push(head);
}

export function witnessesOf(
  options: WitnessOptions | undefined,
  registry: { readonly witness: readonly WitnessSettings[] },
): readonly WitnessSettings[] {
  return [...registry.witness, ...(options?.file === undefined ? [] : [{ file: options.file }])];
}
