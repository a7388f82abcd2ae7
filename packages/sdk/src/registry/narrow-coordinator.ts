/**
 * The narrowing of the coordinator's section. A session may require more answers and share less.
 *
 * The time limit is the host's alone: a short one would let calls pass an optional coordinator before it can answer.
 */
import { COORDINATOR_QUESTIONS, type CoordinatorSettings } from '../contracts/coordinator.ts';
import { isWritten, type Narrowing, placeEntry } from './narrowing.ts';

export function narrowCoordinator(narrowing: Narrowing): CoordinatorSettings {
  const { host, session, overreach, notes } = narrowing;
  const [given, own] = [host.coordinator, session.coordinator];
  if (own.share_args && !given.share_args) {
    overreach.push({ path: 'coordinator.share_args', message: 'Arguments are not shared by the host' });
  }
  if (own.timeout_ms !== given.timeout_ms && isWritten(session, 'coordinator.timeout_ms')) {
    const message = 'Time limit of the host is used instead: coordinator.timeout_ms';
    notes.push({ path: 'coordinator.timeout_ms', message });
  }
  return {
    required: narrowRequired(narrowing),
    timeout_ms: given.timeout_ms,
    // A session that says nothing leaves the coordinator its sight.
    share_args: given.share_args && (own.share_args || !isWritten(session, 'coordinator.share_args')),
  };
}

/** Each question points at the line that demands it, the host's where both do. */
function narrowRequired(narrowing: Narrowing): CoordinatorSettings['required'] {
  const { host, session } = narrowing;
  const demands = (registry: typeof host, question: CoordinatorSettings['required'][number]) =>
    registry.coordinator.required.includes(question);
  const required = COORDINATOR_QUESTIONS.filter((question) => demands(host, question) || demands(session, question));
  for (const [index, name] of required.entries()) {
    const spot = (demands(host, name) ? host : session).spot(`coordinator.required.${name}`);
    placeEntry(narrowing, 'coordinator.required', { index, name, spot });
  }
  return required;
}
