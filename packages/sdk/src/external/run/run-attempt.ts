/** One attempt at running a tool, from its folder to its result: what is known of it so far, and how it is written down. */
import { relative } from 'node:path';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { ExternalToolSettings, RunEntry, RunFile, RunResult } from '../../contracts/external.ts';
import type { ToolContext } from '../../contracts/tool.ts';
import type { HeldFolder } from '../../platform/descriptors/held-path.ts';
import { digest } from '../../platform/digest.ts';
import { createRunFolder, type RunFolder } from '../../platform/runs/run-folder.ts';
import { keepOriginal, writeResultAtomic } from '../../platform/runs/run-result-file.ts';
import { KnownValues } from '../../redaction/known-values.ts';
import { createRedactor, type Redactor } from '../../redaction/redactor.ts';
import type { Pin } from '../lock/find-pin.ts';
import { formatTimestamp } from '../protocol/digests.ts';
import { nextRunState, type RunState, runRefusal } from '../protocol/run-status.ts';
import { secretsOf } from '../protocol/tool-environment.ts';
import { type AcceptedResult, acceptToolResult, type CheckOutput } from '../result/accept-result.ts';
import { createFinish } from '../result/finish-result.ts';
import { newResult, newToolInfo, newWrapperInfo, resultText } from '../result/new-result.ts';
import { type ExternalPorts, runsFolder } from './external-ports.ts';

interface RunPack {
  /** Absolute. */
  readonly path: string;
  /** Workspace-relative. */
  readonly name: string;
  readonly digest: string;
  /** What the name stood for when it was hashed. */
  readonly stamp: string;
}

interface AttemptSetting {
  readonly settings: ExternalToolSettings;
  readonly ports: ExternalPorts;
  /** Workspace-relative. */
  readonly pack?: string | undefined;
  readonly inputs?: JsonObject | undefined;
  /** Who asked: ids of the runtime that lead to its journal. */
  readonly call: JsonObject;
}

/** How it ended; `toolExitCode` null when the tool never ran. */
interface AttemptEnd {
  readonly exitCode: number;
  readonly toolExitCode: number | null;
  readonly errors: readonly RunEntry[];
  readonly warnings: readonly RunEntry[];
  readonly file: RunFile;
  readonly checkOutput: CheckOutput;
  readonly findOutputs?: () => Promise<readonly string[]>;
}

export class RunAttempt {
  readonly settings: ExternalToolSettings;
  readonly ports: ExternalPorts;
  readonly run: RunFolder;
  readonly base: string;
  /** What the tool is given. */
  readonly secrets: KnownValues;
  readonly redactor: Redactor;
  readonly startedAtMs: number;
  /** Filled in as it becomes known. */
  version = 'unknown';
  protocolVersion = 0;
  pin: Pin | undefined;
  pack: RunPack | undefined;
  /** Security events of this run. */
  readonly audit: string[] = [];
  /** Of the bytes of the result, once it is written. */
  resultDigest = '';
  readonly #setting: AttemptSetting;
  readonly #record: RunRecord;

  /** Makes the folder; nothing happens before that. Throws a refusal when it cannot be made. */
  constructor(setting: AttemptSetting) {
    const { settings, ports, pack } = setting;
    this.settings = settings;
    this.ports = ports;
    this.#setting = setting;
    this.base = runsFolder(ports.state, pack);
    const handed = Object.values(secretsOf(settings, ports.environment));
    this.secrets = new KnownValues(handed);
    this.redactor = createRedactor({ secrets: handed });
    this.startedAtMs = ports.now();
    this.run = openFolder(this.base, setting);
    this.#record = createRunRecord(this.run);
  }

  get startedAt(): string {
    return formatTimestamp(this.startedAtMs);
  }

  /** Relative to the state folder. */
  get shownFolder(): string {
    return relative(this.ports.state, this.run.path);
  }

  get isSettled(): boolean {
    return this.#record.state !== 'created';
  }

  /** A warning when the pack is no longer what was hashed: the tool may have seen something else. */
  async checkPack({ workspace }: Pick<ToolContext, 'workspace'>): Promise<readonly RunEntry[]> {
    if (this.pack === undefined || (await packStamp(this.pack.name, workspace)) === this.pack.stamp) return [];
    return [{ code: 'PACK_VERIFICATION_FAILED', message: 'Pack changed while the tool ran', path: this.pack.name }];
  }

  /** Decides what the result is, writes it, and answers it. */
  async settle(end: AttemptEnd): Promise<AcceptedResult> {
    const { environment } = this.ports;
    const { profile } = this.settings;
    const enrich = createFinish(environment, { platform: process.platform, arch: process.arch, profile });
    const accepted = await acceptToolResult({
      file: end.file,
      expected: this.#expected(end),
      checkOutput: end.checkOutput,
      ...(end.findOutputs === undefined ? {} : { findOutputs: end.findOutputs }),
      finish: (result) => enrich({ ...result, ...this.#additions(result) }),
    });
    this.#record.settle(accepted);
    this.resultDigest = resultDigest(accepted, end.file);
    return accepted;
  }

  close(): void {
    this.run.close();
  }

  #expected({ exitCode, toolExitCode, errors, warnings }: AttemptEnd): RunResult {
    const { settings, ports, pin, pack } = this;
    const now = ports.now();
    const started = newResult({
      wrapper: newWrapperInfo(settings.profile, ports.wrapperVersion),
      tool: newToolInfo({ name: settings.name, version: this.version, protocolVersion: this.protocolVersion }),
      runId: this.run.runId,
      startedAtMs: this.startedAtMs,
    });
    return {
      ...started,
      ...(pack === undefined ? {} : { pack_path: pack.path, pack_digest: pack.digest }),
      ...(pin?.tool.signer === undefined ? {} : { signing: pin.tool.signer }),
      ...(pin?.tool.resolved_from === undefined ? {} : { resolved_from: pin.tool.resolved_from }),
      completed_at: formatTimestamp(Math.max(now, this.startedAtMs)),
      duration_ms: Math.max(0, Math.round(now - this.startedAtMs)),
      exit_code: exitCode,
      tool_exit_code: toolExitCode,
      inputs: this.redactor.redactJson(this.#setting.inputs ?? {}),
      errors,
      warnings,
    };
  }

  /** Fields of ours beside the protocol's; always there, so that a tool's own are never taken for them. */
  #additions({ warnings }: RunResult): { readonly [name: string]: JsonValue } {
    const isBackfilled = warnings.some(({ code }) => code === 'RESULT_MISSING' || code === 'RESULT_INVALID');
    return { call: this.#setting.call, audit: [...this.audit, ...(isBackfilled ? ['result_backfilled'] : [])] };
  }
}

/** Differs when the file was exchanged or written to. */
export async function packStamp(name: string, workspace: ToolContext['workspace']): Promise<string> {
  const stat = await workspace.stat(name);
  return stat === null ? '' : `${stat.identity} ${stat.size} ${stat.mtimeMs}`;
}

function openFolder(base: string, { settings, ports, pack }: AttemptSetting): RunFolder {
  try {
    return createRunFolder({ base, tool: settings.name, withPack: pack !== undefined, ids: ports.ids });
  } catch (thrown) {
    throw runRefusal('RUN_DIR_FAILED', {
      message: `Folder of the run cannot be made: ${settings.name}`,
      reason: 'run_folder',
      next: 'look at the state folder: it must be private and have room',
      cause: thrown,
    });
  }
}

/**
 * The digest of a result as it lies on disk, for the journal: it covers every byte and, through the digests in it,
 * every output. The run's own digest leaves out messages and times, and anyone can compute it again. `file` is what the
 * tool left: the result itself where nothing had to be rewritten.
 */
export function resultDigest({ result, rewrite }: AcceptedResult, file: RunFile): string {
  return digest(rewrite || typeof file === 'string' ? resultText(result) : file);
}

interface RunRecord {
  readonly state: RunState;
  /** Writes nothing when the run has ended this way already; throws E_VALIDATION_FAIL when it ended another way. */
  settle(accepted: AcceptedResult): void;
}

/**
 * The one way a result gets into its folder: once, however often it is asked for. A write that fails leaves the run
 * open, so that another can be tried.
 */
export function createRunRecord(folder: HeldFolder): RunRecord {
  let state: RunState = 'created';
  return {
    get state() {
      return state;
    },
    settle(accepted) {
      const next = nextRunState(state, accepted.state);
      if (next === state) return;
      if (accepted.keepOriginal) keepOriginal(folder);
      if (accepted.rewrite) writeResultAtomic(folder, resultText(accepted.result));
      state = next;
    },
  };
}
