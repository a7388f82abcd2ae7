/** What a case of a keyed call is: the call, the world before it, and a second writer who touches the same things. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JsonObject } from '@tool-runtime/protocol';

export interface KeyedCase {
  readonly name: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly registry?: string;
  /** `folder`: an empty workspace; `beside` is a folder of its own next to it. */
  prepare(folder: string, beside: string): void;
  /** What another program does to the same things meanwhile. */
  interfere(folder: string): void;
  /** Another program takes the effect back, so that the content is as before. */
  takeBack?(folder: string): void;
  /**
   * `compared`: a retry finds out what became of the call. `before`: only that it did not happen. `unknown`: nothing, so
   * that it must not run again.
   */
  readonly outcome: 'compared' | 'before' | 'unknown';
  readonly first?: readonly { readonly tool: string; readonly args: JsonObject }[];
  /** What it acts on ends with the process. */
  readonly diesWithProcess?: true;
}

export function put(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

export const OLD = 'old\n';
export const withOld = (folder: string) => put(folder, 'a.txt', OLD);
export const others = (folder: string) => put(folder, 'a.txt', 'of somebody else\n');
