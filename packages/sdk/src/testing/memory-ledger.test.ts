import { effectLedgerSuite } from './ledger-suite.ts';
import { createMemoryLedger } from './memory-ledger.ts';

effectLedgerSuite('the ledger in memory', async () => {
  const ledger = createMemoryLedger();
  ledger.moveTo('a');
  return { first: ledger.of('a'), second: ledger.of('b'), move: async () => ledger.moveTo('b') };
});
