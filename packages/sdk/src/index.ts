/** Public surface of the sdk: what an embedding program needs every day. A line here is a promise. */
import './built-in-types.ts';

export type { CallTurn } from './call/state/call-types.ts';
export type {
  MutationClass,
  SideEffectLevel,
  ToolAnnotations,
  ToolAnnotationsInput,
  ToolKind,
} from './contracts/annotations.ts';
export {
  isReadOnlyKind,
  mutationClass,
  parseSideEffectLevel,
  parseToolKind,
  sideEffectRank,
} from './contracts/annotations.ts';
export type {
  ArtifactPage,
  ArtifactRange,
  ArtifactStore,
  ArtifactWriter,
  LocalArtifacts,
} from './contracts/artifacts.ts';
export type { AstIndex, AstPlugin, AstPorts, OpenAst, StagedAst, StagedAstPorts } from './contracts/ast.ts';
export type { CassetteMode, CassetteOptions, CassetteState } from './contracts/cassette.ts';
export type { AskClient, ClientAnswer, ClientQuestion } from './contracts/client-port.ts';
export type { Clock } from './contracts/clock.ts';
export type {
  CommandOutcome,
  CommandRequest,
  CommandRunner,
  OpenCommandRunner,
  RunningCommand,
} from './contracts/commands.ts';
export type {
  CallIdentity,
  Coordinator,
  CoordinatorCall,
  CoordinatorPlan,
  CoordinatorQuestion,
  CoordinatorStep,
  SpentAmount,
} from './contracts/coordinator.ts';
export type { EffectClaim, EffectIntent, EffectLedger, EffectName, EffectState } from './contracts/effect-ledger.ts';
export type { ChangedFile, ChangeSet } from './contracts/git.ts';
export type { GoverningPlace } from './contracts/governing.ts';
export type {
  ChainHead,
  JournalRecord,
  JournalStore,
  KeyState,
  ReadFilter,
  StoredRecord,
  VerifyOptions,
  VerifyReport,
} from './contracts/journal.ts';
export type {
  ArchiveCheck,
  PruneOptions,
  PruneReport,
  RotateOptions,
  RotateReport,
} from './contracts/journal-rotation.ts';
export type { McpServerSettings } from './contracts/mcp-servers.ts';
export type {
  AfterHookAnswer,
  ApprovalAnswer,
  ApprovalDispatcher,
  ApprovalEffect,
  ApprovalReply,
  ApprovalRequest,
  BeforeHookAnswer,
  BudgetPort,
  CallView,
  Hook,
  PolicyDecision,
  PolicyOutcome,
  ToolPolicy,
} from './contracts/policy.ts';
export type {
  ApprovalPolicy,
  CapabilityPolicy,
  Registry,
  RegistryText,
  ToolArgConstraint,
} from './contracts/registry.ts';
export type { Rehearsal } from './contracts/rehearsal.ts';
export { defineRule, type RuleContext, type RuleDefinition, type Violation } from './contracts/rule.ts';
export type {
  CallEnd,
  CallSpan,
  CallStart,
  CallTelemetry,
  EventSelection,
  RuntimeEvent,
} from './contracts/telemetry.ts';
export {
  type AnyTool,
  type CallProfile,
  defineTool,
  type RehearsalContext,
  type ToolContext,
  type ToolDefinition,
} from './contracts/tool.ts';
export type {
  ForeignServer,
  ForeignTool,
  ForeignVersion,
  OpenToolSource,
  ProgramWall,
  ToolSource,
  ToolSourcePorts,
} from './contracts/tool-source.ts';
export {
  type AnswerPart,
  type AnswerPrice,
  type BlockPart,
  callText,
  type PresentedAnswer,
  type ShownPart,
  type TextPart,
  type ToolText,
} from './contracts/tool-text.ts';
export type { ToolAnswer, ToolArgs, ToolData, ToolTypes } from './contracts/tool-types.ts';
export type { FileChange, FileContent, Workspace } from './contracts/workspace.ts';
export { describeRules, type RuleDescription } from './describe-rules.ts';
export type { ToolTotals, Totals } from './events/metrics.ts';
export type { LockChange } from './external/lock/lock-file.ts';
export type { LockMetadata } from './external/lock/make-lock.ts';
export { compileGlobs, type GlobTest } from './glob/match-glob.ts';
export type { ReconciledCall } from './journal/reconcile.ts';
export { type LockOptions, type LockReport, lockExternalTools } from './lock-external-tools.ts';
export type { ChildToolPolicy } from './package/child-tool-policy.ts';
export type { ContextHandoff } from './package/context-handoff.ts';
export type { ToolExecutionStrategy } from './package/execution-strategy.ts';
export type { StripManifest } from './package/package-parts.ts';
export type { ToolRegistrySnapshot } from './package/registry-snapshot.ts';
export { FairSlots } from './platform/fair-slots.ts';
export { allowAllPolicy, allowedOutcome } from './policy/allow-all-policy.ts';
export type { ShownResponse } from './present/present-answer.ts';
export { REGISTRY_FILE } from './registry-in-force.ts';
export type { ExplainOptions, PolicyRehearsal, SimulateOptions } from './rehearsal/policy-rehearsal.ts';
export { createRuntime, type Runtime, type RuntimeOptions, type SessionOptions } from './runtime.ts';
export type { ChildGrant } from './session/child-grant.ts';
export type { ChildOptions, ChildSession, DetachOptions, Handoff, Usage } from './session/child-session.ts';
export type { HiddenTool, ToolListing } from './session/discover-tools.ts';
export type { PlanSteps } from './session/propose-plan.ts';
export type { BatchHandling } from './session/run-batch.ts';
export type {
  BatchItem,
  BatchOptions,
  CallOptions,
  CloseOptions,
  HandleOptions,
  PresentedCall,
  ProposeOptions,
  Session,
} from './session/session.ts';
export type { BudgetState } from './session/session-budget.ts';
export type { WorkElsewhere, WorkReport } from './session/work-elsewhere.ts';
export { readCommand } from './shell/read-command.ts';
export {
  revokeWorkspaceFiles,
  revokeWorkspaceRegistry,
  type TrustedFile,
  trustWorkspaceFiles,
  trustWorkspaceRegistry,
} from './trust-registry.ts';
