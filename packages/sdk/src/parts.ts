/**
 * The parts behind the runtime, for programs that build or check packages, policies and journals themselves.
 *
 * An entry of its own (`@tool-runtime/sdk/parts`), so that programs that only make calls do not load it.
 */
export { type AuditBundle, type OpenedBundle, openBundle, packBundle } from './audit-bundle.ts';
export { builtInTools } from './built-in-tools.ts';
export { judgeCredentials, needsEncryption, unencrypted } from './egress/judge-headers.ts';
export { judgeUrl } from './egress/judge-url.ts';
export { checkTool } from './external/check-tool/check-tool.ts';
export type { CheckId, ToolCheck, ToolCheckReport } from './external/check-tool/checks.ts';
export type { CheckToolOptions } from './external/check-tool/probe.ts';
export { type PruneRunsOptions, type PruneRunsReport, pruneRuns } from './external/inspect/prune-runs.ts';
export {
  findRunLocations,
  findRunOfCall,
  listRuns,
  type RunFilter,
  type RunSummary,
  showRun,
  showRunOutput,
} from './external/inspect/read-run.ts';
export { type VerifiedRun, type VerifyRunsOptions, verifyRuns } from './external/inspect/verify-runs.ts';
export { checkToolName } from './external/protocol/run-ids.ts';
export { recordUnlistedRun, type UnlistedCall } from './external/run/record-refused.ts';
export { type Replay, type ReplayMode, replay } from './journal/replay.ts';
export { createMemoryJournal, createSqliteFindings, openSqliteJournal } from './journal/store/catalog.ts';
export { type JournalReader, openJournalReader } from './journal/store/journal-reader.ts';
export {
  buildChildPackage,
  type ChildPackage,
  type ChildPackageInput,
  type ChildPackagePolicy,
  childPackageDefaults,
  PARENT_CONTROL_TOOLS,
} from './package/build-child-package.ts';
export { type CapabilitySpec, validateCapability } from './package/capability.ts';
export {
  type ChildRoutePolicy,
  type ChildToolPolicy,
  childRoutePolicySchema,
  childToolPolicySchema,
  type DeclaredEffect,
} from './package/child-tool-policy.ts';
export {
  type ContextHandoff,
  handoffContentRefs,
  handoffPolicyRefs,
  handoffSchema,
  validateHandoff,
} from './package/context-handoff.ts';
export { checkChildStart, childBudget, type DepthBudget, depthBudget } from './package/depth-budget.ts';
export { parseStrategy } from './package/execution-strategy.ts';
export {
  completedOutput,
  createExecutorRegistry,
  type ExecutorContext,
  type ExecutorOutput,
  type ExecutorRegistry,
  failedOutput,
  type HostExecutor,
  type ToolExecutionOutput,
  type ToolExecutor,
  toEffectResult,
} from './package/executor-registry.ts';
export { fingerprintPackage } from './package/fingerprint.ts';
export { applyDelta, type PackageDelta } from './package/package-delta.ts';
export { manifestHash, type StripManifest } from './package/package-parts.ts';
export { buildSnapshot, parseSnapshot } from './package/registry-snapshot.ts';
export { createPackage, type RuntimePackage } from './package/runtime-package.ts';
export { parsePackage } from './package/runtime-package-schema.ts';
export {
  createRouter,
  lowerProviderCall,
  parseRoute,
  type ToolCallRequest,
  type ToolRoute,
  type ToolRouter,
  validateRoute,
} from './package/tool-router.ts';
export { validatePackage } from './package/validate-package.ts';
export {
  type LocatedProgram,
  type SandboxView,
  type ViewedToolchain,
  type ViewOptions,
  viewSandbox,
} from './platform/commands/sandbox-view.ts';
export { canonicalJson, digest } from './platform/digest.ts';
export { currentInstance, isAlive } from './platform/processes/process-identity.ts';
export type { RunLocation } from './platform/runs/find-runs.ts';
export { defaultStateFolder, openStateFolder, type StateFolder } from './platform/state/state-folder.ts';
export { acpStatus, acpToolCallUpdate, permissionAnswer, permissionGranted } from './policy/acp.ts';
export { intersectPolicies, narrowPolicies } from './policy/intersect-policy.ts';
export { type SurfaceReport, validateSurface } from './policy/surface.ts';
export { presentBlocks } from './present/content-blocks.ts';
export { createRedactor, type Redactor } from './redaction/redactor.ts';
export { defaultRegistry } from './registry/build-registry.ts';
export { registryJsonSchema } from './registry/document.ts';
export { argumentNames } from './session/compile-tools.ts';
export { programOf } from './shell/pattern-reach.ts';
export { nearestName } from './text/names.ts';
export { type WitnessedHeads, type WitnessSearch, witnessedHeads } from './witnessed-heads.ts';
