/**
 * Runs that never begin and are on record all the same: of a call that a gate refused, and of a tool that no registry
 * lists.
 */
import type { ErrorEntry, JsonObject } from '@tool-runtime/protocol';
import type { ExternalToolSettings } from '../../contracts/external.ts';
import type { RefusedCall } from '../../contracts/tool.ts';
import { realPath } from '../../platform/descriptors/trace-path.ts';
import { packageVersion } from '../../platform/package-folder.ts';
import { WRAPPER_EXIT } from '../protocol/protocol-constants.ts';
import { checkToolName, createRunIds } from '../protocol/run-ids.ts';
import type { ExternalPorts } from './external-ports.ts';
import { RunAttempt } from './run-attempt.ts';

export interface UnlistedCall {
  readonly state: string;
  /** Name that was asked for. */
  readonly tool: string;
  readonly callId: string;
  readonly sessionId: string;
  readonly actor: string;
  /** What the session answered. */
  readonly error: ErrorEntry;
}

/** Throws E_VALIDATION_FAIL for what cannot be a name, and a refusal when the folder cannot be made. */
export async function recordUnlistedRun(
  call: UnlistedCall,
): Promise<{ readonly run_id: string; readonly run_dir: string }> {
  const attempt = new RunAttempt({
    settings: unlisted(checkToolName(call.tool)),
    ports: bareState(realPath(call.state)),
    call: { call_id: call.callId, session_id: call.sessionId, actor: call.actor },
  });
  try {
    const details = { reason: 'external_tool_not_listed', code: call.error.code };
    await attempt.settle({
      exitCode: WRAPPER_EXIT.not_found,
      toolExitCode: null,
      errors: [{ code: 'COMPONENT_NOT_FOUND', message: call.error.message, details }],
      warnings: [],
      file: 'missing',
      checkOutput: neverRuns,
    });
    return { run_id: attempt.run.runId, run_dir: attempt.shownFolder };
  } finally {
    attempt.close();
  }
}

/** With nothing to run and nothing to pass on. */
function unlisted(name: string): ExternalToolSettings {
  return {
    name,
    summary: '',
    command: '',
    args: [],
    interpreter: [],
    files: [],
    profile: 'neutral',
    kind: 'execute',
    side_effect_level: 'process_exec',
    network: false,
    writable: false,
    secrets: [],
    timeout_ms: 1,
    read_paths: [],
    allow_unpinned: false,
  };
}

/** What writing a result needs; the rest is for runs. */
function bareState(state: string): ExternalPorts {
  return {
    state,
    root: '',
    lock: { path: '', isTrusted: () => false },
    environment: process.env,
    wrapperVersion: packageVersion(),
    ids: createRunIds(Date.now),
    now: Date.now,
    probed: new Map(),
    programsFor: neverRuns,
  };
}

function neverRuns(): never {
  throw new TypeError('A tool that is not listed never runs');
}

/** A refused call of an external tool gets a run of its own: a folder and a result that says why. */
export async function recordRefused(
  { callId, sessionId, actor, error }: RefusedCall,
  { settings, ports }: { readonly settings: ExternalToolSettings; readonly ports: ExternalPorts },
): Promise<void> {
  const call: JsonObject = { call_id: callId, session_id: sessionId, actor };
  try {
    const attempt = new RunAttempt({ settings, ports, call });
    try {
      const reason = error.details['reason'] ?? error.details['gate'];
      const message = attempt.secrets.text(error.message);
      const details = reason === undefined ? {} : { details: { reason } };
      await attempt.settle({
        exitCode: WRAPPER_EXIT.run_failed,
        toolExitCode: null,
        errors: [{ code: error.code, message, ...details }],
        warnings: [],
        file: 'missing',
        checkOutput: () => Promise.reject(error),
      });
    } finally {
      attempt.close();
    }
  } catch {
    // The journal has the refusal; a full disk must not turn it into another error.
  }
}
