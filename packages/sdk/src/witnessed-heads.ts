/** What the witnesses of a journal have noted, for commands that only look. */
import type { ChainHead } from './contracts/journal.ts';
import type { Registry } from './contracts/registry.ts';
import { usePrograms } from './platform/commands/session-programs.ts';
import { realPathIfAny } from './platform/descriptors/trace-path.ts';
import { createHttpClient } from './platform/network/http-client.ts';
import { type RegistrySearch, registryOnDisk } from './registry-on-disk.ts';
import { witnessesOf } from './witness/keep-witness.ts';
import { openWitness, type WitnessMeans } from './witness/witness-places.ts';

export interface WitnessSearch extends RegistrySearch {
  /** A witness file in addition. */
  readonly file?: string;
}

export interface WitnessedHeads {
  readonly heads: readonly ChainHead[];
  /** Every place that was asked, with the number of heads it has of this journal. */
  readonly places: readonly { readonly name: string; readonly heads: number }[];
}

/** Rejects when a place cannot be asked: a witness that is not heard proves nothing. */
export async function witnessedHeads(search: WitnessSearch): Promise<WitnessedHeads> {
  const { registry } = registryOnDisk(search);
  const means = meansOf(search, registry);
  const { file } = search;
  const places = witnessesOf(file === undefined ? undefined : { file }, registry).map((one) => openWitness(one, means));
  const found = await Promise.all(places.map(async ({ name, heads }) => ({ name, heads: await heads() })));
  return {
    heads: found.flatMap(({ heads }) => heads),
    places: found.map(({ name, heads }) => ({ name, heads: heads.length })),
  };
}

function meansOf({ workspace, state }: WitnessSearch, registry: Registry): WitnessMeans {
  return {
    state: realPathIfAny(state),
    workspace,
    openHttp: (host) => createHttpClient({ allowedDomains: [host], insecureCredentials: [] }),
    useGit: (use) => usePrograms({ workspace, registry, governing: [], actor: 'verify' }, ({ git }) => use(git)),
  };
}
