/** What implementers of ports and tools can test against: shared suites, fault injection, scratch runtimes. */

export { type CommandRunnerOptions, createCommandRunner } from '../platform/commands/command-runner.ts';
export { openRoot } from '../platform/descriptors/root.ts';
export { createWorkspace } from '../platform/files/workspace.ts';
export { createArtifactFiles } from '../platform/state/artifact-files.ts';
export { type ArtifactPair, artifactStoreSuite } from './artifact-suite.ts';
export { type BudgetPair, budgetPortSuite } from './budget-suite.ts';
export { createFaults, type FaultPlan, type Faults, type JournalHolder, startJournalHolder } from './faulty-parts.ts';
export { journalStoreSuite } from './journal-suite.ts';
export { effectLedgerSuite, type LedgerPair } from './ledger-suite.ts';
export { createMemoryLedger, type MemoryLedger } from './memory-ledger.ts';
export { createCounter, nothing, wait } from './probe-tools.ts';
export { openScratchRuntime, type ScratchRuntime } from './scratch-runtime.ts';
