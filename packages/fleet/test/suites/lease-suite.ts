/** What every lease of a workspace must do. A single host has no lease: its workspace is its own. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';

export interface Contender {
  readonly token: number | undefined;
  /** Takes the lease when it is free, or gives it back. */
  want(isWanted: boolean): Promise<void>;
  /** Resolves when it holds the lease. */
  held(): Promise<void>;
}

/** Opens a contender for the lease of one workspace with each call of `join`. */
export type OpenLeases = (t: TestContext) => Promise<{ join(): Promise<Contender> }>;

export function leaseSuite(name: string, open: OpenLeases): void {
  describe(`${name} as a lease`, { concurrency: true }, () => {
    test('of many that want it one holds it', async (t) => {
      const { join } = await open(t);
      const all = await Promise.all(Array.from({ length: 5 }, () => join()));
      await Promise.race(all.map((one) => one.held()));
      assert.equal(all.filter(({ token }) => token !== undefined).length, 1);
    });

    test('given back, it goes to the next with a greater token, and back again', async (t) => {
      const { join } = await open(t);
      const first = await join();
      await first.held();
      const second = await join();
      const one = first.token ?? 0;
      assert.equal(second.token, undefined);
      await first.want(false);
      assert.equal(first.token, undefined);
      await second.held();
      const two = second.token ?? 0;
      assert.ok(two > one, `${two} after ${one}`);
      await first.want(true);
      await second.want(false);
      await first.held();
      assert.ok((first.token ?? 0) > two);
      assert.equal(second.token, undefined);
    });
  });
}
