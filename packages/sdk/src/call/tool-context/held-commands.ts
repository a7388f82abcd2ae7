/**
 * Commands of a call that needs an approval, where the registry says `ask: with_effects`: they run on an overlay, and a person
 * is asked with their output and changes in hand. A yes makes exactly those real. Before it nothing leaves the call: no output,
 * no progress, no change, and without `with_effects_and_network` nothing goes to the network.
 */
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { ChangeHistory } from '../../changes/change-set.ts';
import type { CommandRequest, CommandRunner, EffectsKeeper, RanCommand } from '../../contracts/commands.ts';
import { policyDenial } from '../../contracts/failures.ts';
import type { ApprovalAnswer, ApprovalEffect, RanEffect } from '../../contracts/policy.ts';
import { fromOutermost } from '../../policy/declared-paths.ts';
import type { GatedCall } from '../state/call-types.ts';
import type { SessionParts } from '../state/session-parts.ts';
import { noteDecision, writeTrail } from '../state/trail.ts';
import { commandText } from './asked-call.ts';
import { commandKeeper, diffOf, effectsOf, noJobs } from './command-keeper.ts';
import { putQuestion } from './put-question.ts';

/** A yes for later runs would cover effects that were never seen. */
const ANSWERS: readonly ApprovalAnswer[] = ['approved', 'denied'];
const MAX_TEXT = 16_000;
const MAX_PRINTED = 16 * 1024;
const SHOWN_PRINTED = 2000;

export interface HeldCommands extends CommandRunner {
  /** Whether every command that ran was approved, and one did. */
  isApproved(): boolean;
}

export function heldCommands(
  call: GatedCall,
  history: Pick<ChangeHistory, 'commit'>,
  { parts, runner }: { readonly parts: SessionParts; readonly runner: CommandRunner },
): HeldCommands {
  const keeper = commandKeeper(call, history, parts);
  let started = 0;
  let approved = 0;
  const asking: EffectsKeeper = {
    ...keeper,
    async ask(ran) {
      await askAbout(call, ran, { before: approved, parts });
      approved += 1;
    },
  };
  return {
    isApproved: () => started > 0 && approved === started,
    async start(request) {
      if (parts.transaction !== undefined) throw notStaged();
      const effects = heldEffects(request, parts);
      // Refused before anything runs.
      if (!parts.broker.hasApprover) await putQuestion(call, { before: 0, effect: undefined, answers: ANSWERS }, parts);
      started += 1;
      try {
        return await runner.start({ ...request, effects, keeper: asking });
      } catch (thrown) {
        throw isToolError(thrown) && thrown.details['reason'] === 'no_overlay' ? cannotHold(thrown) : thrown;
      }
    },
  };
}

function heldEffects(request: CommandRequest, { registry }: SessionParts): 'recorded' | 'preview' {
  if (request.mayStay === true) throw noJobs('A command that runs before it is approved');
  if (request.network && registry.ask !== 'with_effects_and_network') throw noNetworkYet();
  return effectsOf(registry.effects, request) === 'preview' ? 'preview' : 'recorded';
}

async function askAbout(
  call: GatedCall,
  ran: RanCommand,
  { before, parts }: { readonly before: number; readonly parts: SessionParts },
): Promise<void> {
  const { open } = call;
  const effect = await effectOf(call, ran, parts);
  const resume = open.request.turn?.lend();
  try {
    const { edited } = await putQuestion(call, { before, effect, answers: ANSWERS }, parts);
    if (edited !== undefined) throw cannotEdit();
  } finally {
    resume?.();
  }
  noteDecision(open, { outcome: 'allow', gate: 'approval', code: 'approval.approved' }, parts);
  await writeTrail(open, parts);
}

async function effectOf(
  call: GatedCall,
  { outcome, changes, leftOut }: RanCommand,
  parts: SessionParts,
): Promise<ApprovalEffect> {
  const placed = changes.map((change) => ({ ...change, path: fromOutermost(parts.folderPrefix, change.path) }));
  const clean = (text: string): string => parts.redact(text.toWellFormed());
  const ran: RanEffect = {
    exit_code: outcome.code,
    stdout: cut(clean(outcome.stdout.text), MAX_PRINTED),
    stderr: cut(clean(outcome.stderr.text), MAX_PRINTED),
    total: changes.length,
    diff: clean(await diffOf(placed, call.open.sets())),
    left_out: leftOut.map(({ path, reason }) => ({ path: clean(path), reason })),
  };
  return { kind: 'effects', text: cut(effectText(commandText(call, parts), ran, outcome.signal), MAX_TEXT), ran };
}

function effectText(command: string, ran: RanEffect, signal: string | null): string {
  const { exit_code, stdout, stderr, total, diff, left_out } = ran;
  const ended = signal === null ? `exit code: ${exit_code}` : `ended by: ${signal}`;
  const printed = Object.entries({ stdout, stderr }).filter(([, text]) => text !== '');
  return [
    command,
    ended,
    ...printed.map(([name, text]) => `${name}:\n${cut(text.trimEnd(), SHOWN_PRINTED)}`),
    total === 0 ? 'changes: none' : `changes: ${total} ${total === 1 ? 'path' : 'paths'}`,
    ...left_out.map(({ path, reason }) => `left out: ${path} (${reason})`),
    ...(diff === '' ? [] : [diff.trimEnd()]),
  ].join('\n');
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}\n[cut: ${text.length - length} more characters]`;
}

/** A yes makes what was shown real at once, and a transaction must not. */
function notStaged(): ToolError {
  return policyDenial('A command that runs before it is approved cannot be part of a transaction', {
    details: {
      gate: 'transaction',
      reason: 'not_in_transaction',
      next: 'run it outside of transactions, or ask the operator for ask: command_line',
    },
  });
}

function noNetworkYet(): ToolError {
  return policyDenial('A command that runs before it is approved gets no network', {
    path: 'allow_network',
    details: {
      gate: 'approval',
      reason: 'network_before_approval',
      next: 'leave out allow_network, or ask the operator for ask: with_effects_and_network',
    },
  });
}

/** What was shown are the effects of the arguments as they were. */
function cannotEdit(): ToolError {
  return policyDenial('Arguments cannot be edited in the answer: the command has run, and nothing of it was applied', {
    details: { gate: 'approval', reason: 'approval.cannot_edit', next: 'send the call again with these arguments' },
  });
}

function cannotHold(cause: ToolError): ToolError {
  return new ToolError(cause.code, `${cause.message}; its effects were to be shown before it is approved`, {
    details: { ...cause.details, next: 'use a machine with overlays, or ask the operator for ask: command_line' },
    cause,
  });
}
