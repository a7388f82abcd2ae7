/** The one suite every transport passes, with every client. */
import { after, before, describe, test } from 'node:test';
import { batchTests } from './suite/batch-tests.ts';
import { callTests } from './suite/call-tests.ts';
import { childTests } from './suite/child-tests.ts';
import { lifeTests } from './suite/life-tests.ts';
import { refusalTests } from './suite/refusal-tests.ts';
import type { Transport } from './transport.ts';

/** Enough that waiting costs nothing, few enough that processes which start together do not starve each other. */
const AT_ONCE = 4;

export function transportSuite(name: string, open: () => Promise<Transport>): void {
  describe(name, () => {
    let opened: Transport | undefined;
    const transport = (): Transport => {
      if (opened === undefined) throw new TypeError('The transport is not open');
      return opened;
    };
    before(async () => {
      opened = await open();
    });
    after(() => opened?.close());

    describe('together', { concurrency: AT_ONCE }, () => {
      callTests(transport);
      batchTests(transport);
      childTests(transport);
      refusalTests(transport);
      lifeTests(transport);
    });

    test('everything that was said, in both directions, is what the published schemas allow [S0-3]', () => {
      transport().traffic.check();
    });
  });
}
