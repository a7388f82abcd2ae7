/** Opens a session: narrows the registry, freezes the snapshot, puts the opening on record. */
import { ToolError } from '@tool-runtime/protocol';
import { checkId } from '../contracts/identifiers.ts';
import type { SessionRecord } from '../contracts/journal.ts';
import type { CapabilityPolicy, Registry } from '../contracts/registry.ts';
import { intersectPolicies } from '../policy/intersect-policy.ts';
import { compileSession, type RuntimeParts, type SessionIdentity } from './compile-session.ts';
import { discoverTools, type HiddenTool, hiddenTools, type ToolListing } from './discover-tools.ts';
import { createSession, type Session } from './session.ts';

export interface OpenSessionInput {
  readonly actor: string;
  readonly client: string;
  /** The runtime's registry, or one that was narrowed from it. */
  readonly registry: Registry;
  readonly capabilities: CapabilityPolicy | undefined;
  readonly heartbeatTimeoutMs: number | undefined;
}

/** What a session of this kind could use, without opening one: nothing is recorded, started or kept. */
export async function previewSession(input: OpenSessionInput, runtime: RuntimeParts): Promise<SessionPreview> {
  const parts = compileSession(identityOf(input, runtime), runtime);
  const preview = { tools: discoverTools(parts), hidden: hiddenTools(parts) };
  parts.http.close();
  await Promise.all([parts.jobs.close(), parts.programs.close()]);
  return preview;
}

export interface SessionPreview {
  readonly tools: readonly ToolListing[];
  readonly hidden: readonly HiddenTool[];
}

function identityOf(input: OpenSessionInput, runtime: RuntimeParts): SessionIdentity {
  return {
    sessionId: `sess-${runtime.newId()}`,
    actor: checkId(input.actor, 'session.actor'),
    client: checkId(input.client, 'session.client'),
    registry: withCapabilities(input.registry, input.capabilities),
  };
}

export async function openSession(
  input: OpenSessionInput,
  runtime: RuntimeParts,
  onClosed: (session: Session) => void,
): Promise<Session> {
  const identity = identityOf(input, runtime);
  const parts = compileSession(identity, runtime);
  const fingerprint = parts.router.snapshot.runtime_package_fingerprint;
  await runtime.journal.append([sessionRecord('opened', identity, fingerprint, runtime)]);
  runtime.metrics.open(identity.sessionId);
  const session: Session = createSession(parts, {
    heartbeatTimeoutMs: checkHeartbeat(input.heartbeatTimeoutMs),
    onClose: async (reason) => {
      onClosed(session);
      parts.broker.revokeSession(identity.sessionId);
      parts.http.close();
      parts.reporter.close();
      runtime.metrics.forget(identity.sessionId);
      const recorded = runtime.journal.append([sessionRecord(reason, identity, fingerprint, runtime)]);
      await Promise.all([recorded, parts.jobs.close(), parts.programs.close()]);
    },
  });
  return session;
}

/** Asking for more than the registry gives is an error, not a silent trim. */
function withCapabilities(registry: Registry, requested: CapabilityPolicy | undefined): Registry {
  if (requested === undefined) return registry;
  return { ...registry, ceiling: intersectPolicies(registry.ceiling, requested) };
}

function checkHeartbeat(limit: number | undefined): number | undefined {
  if (limit === undefined || (Number.isFinite(limit) && limit > 0)) return limit;
  throw new ToolError('E_VALIDATION_FAIL', 'Heartbeat limit must be a positive number of milliseconds', {
    path: 'heartbeatTimeoutMs',
  });
}

function sessionRecord(
  event: SessionRecord['event'],
  identity: SessionIdentity,
  fingerprint: string,
  runtime: RuntimeParts,
): SessionRecord {
  return {
    kind: 'session',
    event,
    session_id: identity.sessionId,
    at_ms: runtime.clock.now(),
    actor: identity.actor,
    client: identity.client,
    package_fingerprint: fingerprint,
    registry_fingerprint: identity.registry.fingerprint,
  };
}
