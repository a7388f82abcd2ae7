/** A call of an external tool that a gate refused has a run of its own too: a folder and a result that says why. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { ExternalToolSettings } from '../../contracts/external.ts';
import type { RefusedCall } from '../../contracts/tool.ts';
import { WRAPPER_EXIT } from '../protocol/protocol-constants.ts';
import type { ExternalPorts } from './external-ports.ts';
import { RunAttempt } from './run-attempt.ts';

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
