/** What `createRuntime` and `openSession` take, and the check of what no schema checks. */
import { resolve } from 'node:path';
import { ToolError } from '@tool-runtime/protocol';
import type { ArtifactStore, LocalArtifacts } from './contracts/artifacts.ts';
import type { AstIndex, AstPlugin } from './contracts/ast.ts';
import { CASSETTE_MODES, type CassetteMode, type CassetteOptions } from './contracts/cassette.ts';
import type { Clock } from './contracts/clock.ts';
import type { Coordinator } from './contracts/coordinator.ts';
import type { EffectLedger } from './contracts/effect-ledger.ts';
import type { GoverningPlace } from './contracts/governing.ts';
import type { JournalStore } from './contracts/journal.ts';
import type { ApprovalDispatcher, BudgetPort, Hook, ToolPolicy } from './contracts/policy.ts';
import type { CapabilityPolicy, Durability, RegistryText, Retention } from './contracts/registry.ts';
import type { RuleDefinition } from './contracts/rule.ts';
import type { CallTelemetry } from './contracts/telemetry.ts';
import type { AnyTool } from './contracts/tool.ts';
import type { ToolSource } from './contracts/tool-source.ts';
import type { HostExecutor } from './package/executor-registry.ts';
import type { RootBackend } from './platform/descriptors/root.ts';
import type { ExtraRoot } from './platform/files/workspace.ts';
import type { ChildGrant } from './session/child-grant.ts';
import type { RuntimeParts } from './session/compile-session.ts';
import type { WitnessOptions } from './witness/keep-witness.ts';

export interface RuntimeOptions {
  /**
   * `ignore`: the runtime opens although examples of the registry do not hold; `runtime.policy.check` says which.
   * `require` by default: such a registry is refused.
   */
  readonly examples?: 'require' | 'ignore';
  /** The folder every path is relative to. */
  readonly workspace: string;
  /** Where journal and key live; outside the workspace. Default: the user's state folder, one per workspace. */
  readonly state?: string;
  /** The operator's registry: a file name, or its text. Default: the workspace's own, narrowed, or the safe defaults. */
  readonly registry?: string | RegistryText;
  /** Tools in addition to the built-in ones. */
  readonly tools?: readonly AnyTool[];
  /** Tools that depend on the registry, such as those of the MCP servers it mounts (`createGateway` of the host package). */
  readonly sources?: readonly ToolSource[];
  /** Rules in addition to the built-in ones; the registry says which of them hold. */
  readonly rules?: readonly RuleDefinition[];
  /** Watch, deny or change calls before they run, and rewrite answers afterwards. */
  readonly hooks?: readonly Hook[];
  /** Asked before and after every call; an error counts as a denial. */
  readonly policy?: ToolPolicy;
  /** Asks a person where a call needs an approval: a function, or an object with `ask`. Left out: such calls are refused. */
  readonly approvals?: ApprovalDispatcher | ApprovalDispatcher['ask'];
  /** Executor kinds of the embedding program, for tools that name one in `executorRef`. */
  readonly executors?: readonly HostExecutor[];
  /** A budget of the embedding program, in addition to the registry's. */
  readonly budget?: BudgetPort;
  /** Asked about plans, budgets and policy before calls run. */
  readonly coordinator?: Coordinator;
  /** Agreed with by hosts that may work on the same workspace, such as the ledger of a fleet. Left out: this is the only one. */
  readonly ledger?: EffectLedger;
  /** Puts something around the artifacts on disk, such as a store that several hosts share. */
  readonly artifacts?: (local: LocalArtifacts) => ArtifactStore;
  /** Code intelligence: an engine with its tools and rules (`createAst` of the ast package), or an index alone. */
  readonly ast?: AstIndex | AstPlugin;
  /** Raises the level of the registry, never lowers it. `normal` survives a killed process, `full` also a power cut. */
  readonly durability?: Durability;
  /** What to keep longer or shorter than the registry says. */
  readonly retention?: Partial<Retention>;
  /** A file outside of workspace and state folder that records how far the journal is; `verify` reads it. */
  readonly witness?: WitnessOptions;
  /** Records calls with their answers in a file, or answers them from it; see docs/record-and-replay.md. */
  readonly cassette?: CassetteOptions | CassetteMode;
  /** The file of `cassette`, where that is a mode alone. */
  readonly file?: string;
  /** Values that never appear in records, events or errors. */
  readonly secrets?: readonly string[];
  /** Further folders that file tools may read, or read and write, under a name of their own. */
  readonly extraRoots?: readonly ExtraRoot[];
  /** Further files that decide over tools, such as token files and sockets. Tools cannot change them, wherever they lie. */
  readonly governing?: readonly GoverningPlace[];
  /** Spans for calls; `createOpenTelemetry` of `@tool-runtime/sdk/telemetry` is one. */
  readonly telemetry?: CallTelemetry;
  /** Hears of failures that callers see only as E_INTERNAL, or as a silent coordinator; the cause is in `error.cause`. For logs. */
  readonly onUnexpected?: (error: ToolError) => void;
  /** Seams for tests and other stores. */
  readonly ports?: RuntimePorts;
}

/** Options whose shape was checked. */
export interface CheckedOptions extends Omit<RuntimeOptions, 'file'> {
  readonly cassette?: CassetteOptions;
  readonly approvals?: ApprovalDispatcher;
}

export interface RuntimePorts {
  /** Instead of `journal.db` in the state folder. */
  readonly journal?: JournalStore;
  /** Instead of the clock of the system. */
  readonly clock?: Clock;
  /** How paths are opened below the workspace; `auto` takes the strongest way this machine has. */
  readonly pathBackend?: RootBackend | 'auto';
  /** Makes ids of sessions and calls. */
  readonly newId?: () => string;
  /** Puts something around the parts of the runtime, such as faults. */
  readonly wrapParts?: (parts: RuntimeParts) => RuntimeParts;
  /** How often calls of processes that died are looked for; five minutes unless given. */
  readonly reconcileEveryMs?: number;
}

export interface SessionOptions {
  /** Who is responsible for the calls. */
  readonly actor?: string;
  /** Program and version that sends them. */
  readonly client?: string;
  /** A registry that can only narrow the runtime's. */
  readonly registry?: RegistryText;
  /** A further ceiling; asking for more than the registry allows is an error. */
  readonly capabilities?: CapabilityPolicy;
  /** The session expires when no heartbeat comes for so long. */
  readonly heartbeatTimeoutMs?: number;
  /**
   * The grant of a child that a session on another host opened to work here (`ChildSession.elsewhere`). The session has no more
   * than it says, and no more than it would have without it.
   */
  readonly under?: ChildGrant;
  /** No questions are asked: what needs an approval is refused, as in a runtime without `approvals`. */
  readonly approvals?: 'none';
}

/** Throws E_VALIDATION_FAIL for an option of the wrong shape. */
export function checkOptions({ approvals, cassette, file, ...others }: RuntimeOptions): CheckedOptions {
  return { ...others, ...approver(approvals), ...cassetteOf(cassette, file) };
}

function cassetteOf(given: RuntimeOptions['cassette'], file: string | undefined): Pick<CheckedOptions, 'cassette'> {
  if (given === undefined && file === undefined) return {};
  const found: Partial<CassetteOptions> | null | undefined =
    typeof given === 'string' ? { mode: given, ...(file === undefined ? {} : { file }) } : given;
  const isKnown = CASSETTE_MODES.some((mode) => mode === found?.mode);
  if (isKnown && typeof found?.file === 'string' && found.file !== '') {
    return { cassette: { ...(found as CassetteOptions), file: resolve(found.file) } };
  }
  throw new ToolError('E_VALIDATION_FAIL', 'Option cassette needs a mode and a file', {
    path: 'cassette',
    details: {
      reason: 'invalid_option',
      next: `pass { mode, file }, where mode is one of ${CASSETTE_MODES.join(', ')}`,
    },
  });
}

/** What is neither is refused here: later it would only be an approver that cannot be reached. */
function approver(given: RuntimeOptions['approvals']): { readonly approvals?: ApprovalDispatcher } {
  if (given === undefined) return {};
  if (typeof given === 'function') return { approvals: { ask: given } };
  if (typeof given === 'object' && given !== null && typeof given.ask === 'function') return { approvals: given };
  throw new ToolError('E_VALIDATION_FAIL', 'Option approvals is neither a function nor an object with ask', {
    path: 'approvals',
    details: {
      reason: 'invalid_option',
      next: 'pass (request, signal) => Promise<{ answer, by }>, or { ask } with it',
    },
  });
}
