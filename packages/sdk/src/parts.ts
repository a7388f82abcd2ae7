/**
 * The parts behind the runtime, for programs that build or check packages, policies and journals themselves.
 *
 * An entry of its own (`@tool-runtime/sdk/parts`), so that whoever only makes calls does not load it.
 */
export { judgeUrl } from './egress/judge-url.ts';
export { createRedactor, type Redactor } from './journal/redact.ts';
export { type Replay, type ReplayMode, replay } from './journal/replay.ts';
export { type CapabilitySpec, validateCapability } from './package/capability.ts';
export { completedOutput, failedOutput, type ToolExecutionOutput, toEffectResult } from './package/execution-output.ts';
export { parseStrategy } from './package/execution-strategy.ts';
export { createExecutorRegistry, type ExecutorRegistry, type ToolExecutor } from './package/executor-registry.ts';
export { fingerprintPackage } from './package/fingerprint.ts';
export { applyDelta, type PackageDelta } from './package/package-delta.ts';
export { buildSnapshot, parseSnapshot } from './package/registry-snapshot.ts';
export { createPackage, type RuntimePackage } from './package/runtime-package.ts';
export { parsePackage } from './package/runtime-package-schema.ts';
export { lowerProviderCall, type ToolCallRequest } from './package/tool-call.ts';
export { parseRoute, type ToolRoute, validateRoute } from './package/tool-route.ts';
export { createRouter, type ToolRouter } from './package/tool-router.ts';
export { validatePackage } from './package/validate-package.ts';
export { canonicalJson, digest } from './platform/digest.ts';
export { currentInstance, isAlive } from './platform/process-identity.ts';
export { defaultStateFolder, openStateFolder, type StateFolder } from './platform/state-folder.ts';
export { acpStatus, acpToolCallUpdate, permissionAnswer, permissionGranted } from './policy/acp.ts';
export { intersectPolicies, narrowPolicies } from './policy/intersect-policy.ts';
export { type SurfaceReport, validateSurface } from './policy/surface.ts';
export { registryJsonSchema } from './registry/document.ts';
export { createMemoryJournal, createSqliteFindings, openSqliteJournal } from './stores/catalog.ts';
