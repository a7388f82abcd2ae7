/** `coordinator`: how the coordinator is asked, where the runtime was started with one. */
import { z } from 'zod';
import { COORDINATOR_QUESTIONS, type CoordinatorSettings } from '../../contracts/coordinator.ts';
import { isWritten, type Narrowing, placeEntry } from '../narrowing.ts';
import { defineSection } from '../section.ts';

const LIST = 'coordinator.required';

/** Where nothing is written. */
const UNWRITTEN: CoordinatorSettings = { required: [], timeout_ms: 2000, share_args: false };

const schema = z.strictObject({
  required: z
    .union([z.literal(true), z.array(z.enum(COORDINATOR_QUESTIONS))], 'true, or a list of plan, budget and policy')
    .default([...UNWRITTEN.required])
    .describe(
      'Questions (plan, budget, policy; true: all) without whose answer nothing goes on; of the others an unreachable coordinator costs a warning',
    ),
  timeout_ms: z.int().min(1).max(60_000).default(UNWRITTEN.timeout_ms).describe('How long an answer may take'),
  share_args: z
    .boolean()
    .default(UNWRITTEN.share_args)
    .describe('Whether the coordinator is shown raw arguments; otherwise hashes, redacted summaries and paths'),
});

type WrittenCoordinator = z.output<typeof schema> | undefined;

export const coordinator = defineSection({
  keys: {
    coordinator: schema
      .exactOptional()
      .describe('How the coordinator is asked, where the runtime was started with one'),
  },
  build: (written) => ({ coordinator: settingsOf(written.coordinator) }),
  narrow: (narrowing) => ({ coordinator: narrowCoordinator(narrowing) }),
  lists: { [LIST]: (written) => listedQuestions(written.coordinator) },
  meaning: (written) => ({ coordinator: settingsOf(written.coordinator) }),
});

/** Every question by name, in one order, defaults filled in. */
function settingsOf(written: WrittenCoordinator): CoordinatorSettings {
  if (written === undefined) return UNWRITTEN;
  const { required, timeout_ms, share_args } = written;
  return {
    required: COORDINATOR_QUESTIONS.filter((question) => required === true || required.includes(question)),
    timeout_ms,
    share_args,
  };
}

function listedQuestions(written: WrittenCoordinator): readonly string[] {
  return written === undefined || written.required === true ? [] : written.required;
}

/**
 * A session may require more answers and share less. The time limit is the host's alone: a short one would let calls pass
 * an optional coordinator before it can answer.
 */
function narrowCoordinator(narrowing: Narrowing): CoordinatorSettings {
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
    // A session that does not mention it leaves it as it is.
    share_args: given.share_args && (own.share_args || !isWritten(session, 'coordinator.share_args')),
  };
}

/** Each question points at the line that requires it, the host's where both do. */
function narrowRequired(narrowing: Narrowing): CoordinatorSettings['required'] {
  const { host, session } = narrowing;
  const demands = (registry: typeof host, question: CoordinatorSettings['required'][number]) =>
    registry.coordinator.required.includes(question);
  const required = COORDINATOR_QUESTIONS.filter((question) => demands(host, question) || demands(session, question));
  for (const [index, name] of required.entries()) {
    const spot = (demands(host, name) ? host : session).spot(`${LIST}.${name}`);
    placeEntry(narrowing, LIST, { index, name, spot });
  }
  return required;
}
