/** The errors for a denial by the coordinator, and for its silence where the registry requires an answer. */
import type { CoordinatorVerdict, ToolError } from '@tool-runtime/protocol';
import type { CoordinatorQuestion } from '../contracts/coordinator.ts';
import { failure, policyDenial } from '../contracts/failures.ts';
import type { Silence } from './ask-in-time.ts';

const REFUSED: Readonly<Record<CoordinatorQuestion, string>> = {
  plan: 'Coordinator refused the plan',
  budget: 'Coordinator has no budget for the call',
  policy: 'Coordinator refused the call',
};

/** `paused`: it failed shortly before and was not asked. */
const SILENT: Readonly<Record<Silence | 'paused', string>> = {
  threw: 'could not be reached',
  timed_out: 'did not answer in time',
  malformed: 'gave an answer that cannot be read',
  paused: 'failed shortly before and was not asked',
};

type Answered = Pick<CoordinatorVerdict, 'reason' | 'message'>;

export function coordinatorDenial(question: CoordinatorQuestion, { reason, message }: Answered): ToolError {
  return policyDenial(`${REFUSED[question]}: ${message ?? reason}`, {
    details: {
      gate: 'coordinator',
      question,
      reason,
      next: 'do something else, or ask the operator of the coordinator what it allows',
    },
  });
}

export function coordinatorUnreachable(question: CoordinatorQuestion, why: Silence, cause: unknown): ToolError {
  return failure('policy_denial', 'retryable', `Coordinator ${SILENT[why]}, and its word is required: ${question}`, {
    details: {
      gate: 'coordinator',
      question,
      reason: 'coordinator_unreachable',
      why,
      field: requiredField(question),
      next: 'try again when the coordinator answers',
    },
    cause,
  });
}

/** There is no coordinator to ask, and waiting will not help. */
export function coordinatorMissing(question: CoordinatorQuestion): ToolError {
  const message = `Registry requires the word of a coordinator, and this runtime has none to ask: ${question}`;
  return failure('host_configuration_needed', 'host_configuration_needed', message, {
    details: {
      gate: 'coordinator',
      question,
      reason: 'coordinator_missing',
      field: requiredField(question),
      next: 'start the runtime with a coordinator that answers this question, or take it out of coordinator.required',
    },
  });
}

/** For calls that go on without it: their warning, and with its cause what the embedding program logs. */
export function coordinatorSilent(question: CoordinatorQuestion, why: Silence | 'paused', cause?: unknown): ToolError {
  return policyDenial(`Coordinator ${SILENT[why]}: ${question}`, {
    details: {
      gate: 'coordinator',
      question,
      reason: 'coordinator_unreachable',
      why,
      next: 'nothing to do; list the question in coordinator.required to have such calls refused',
    },
    cause,
  });
}

function requiredField(question: CoordinatorQuestion): string {
  return `coordinator.required.${question}`;
}
