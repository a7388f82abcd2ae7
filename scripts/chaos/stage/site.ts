/** One workspace with everything that is known about it: its files, its tokens, its journal. */
import { join } from 'node:path';
import { FileModel } from '../oracle/file-model.ts';
import { TokenLedger, type TokenPlace, tokenFolder, tokenHits, tokenLines } from '../oracle/token-ledger.ts';
import type { LoopbackServers } from './loopback-servers.ts';

export interface Site {
  /** How sessions name it. */
  readonly name: string;
  readonly folder: string;
  /** Where its journal lies. */
  readonly state: string;
  readonly remote: string;
  readonly files: FileModel;
  readonly tokens: TokenLedger;
  readonly places: SitePlaces;
  /** Hashes of commits that were reported to a caller. */
  readonly commits: Set<string>;
  /** Hashes that were reported to be at the remote. */
  readonly pushed: Set<string>;
  /** One counter that all lanes raise, each only if it is what it was. */
  readonly counter: { acknowledged: number; unknown: number };
}

export interface SitePlaces {
  readonly commands: TokenPlace;
  readonly marks: TokenPlace;
  readonly requests: TokenPlace;
  /** Files that lanes append to together. */
  readonly logs: readonly { readonly path: string; readonly place: TokenPlace }[];
}

const LOGS = 3;
export const COUNTER = 'shared/counter.txt';
/** Copied, never changed. */
export const BASE_TREE = 'shared/tree';

export interface SiteOptions {
  readonly name: string;
  readonly folder: string;
  readonly state: string;
  readonly remote: string;
  readonly servers: LoopbackServers;
}

export function openSite({ name, folder, state, remote, servers }: SiteOptions): Site {
  return {
    name,
    folder,
    state,
    remote,
    files: new FileModel(folder),
    tokens: new TokenLedger(),
    places: {
      commands: tokenFolder(`${name}/tokens`, join(folder, 'tokens')),
      marks: tokenFolder(`${name}/marks`, join(folder, 'marks')),
      requests: tokenHits(`requests of ${name}`, servers.hits, `${name}-`),
      logs: Array.from({ length: LOGS }, (_, at) => {
        const path = `shared/log-${at}.txt`;
        return { path, place: tokenLines(`${name}/${path}`, join(folder, path)) };
      }),
    },
    commits: new Set(),
    pushed: new Set(),
    counter: { acknowledged: 0, unknown: 0 },
  };
}
