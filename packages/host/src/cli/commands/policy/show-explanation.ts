/** An explanation for people: the decision, one line for each gate, and what would turn the answer. */
import type { GateReport, PolicyExplanation } from '@tool-runtime/protocol';
import { paint, plainText, printLine } from '../../../terminal/terminal.ts';

export const COLOURS = { allow: 'green', ask: 'yellow', deny: 'red', not_asked: 'dim' } as const;

export function showExplanation({ decision, code, tool, gates, change }: PolicyExplanation): void {
  printLine(`${paint(COLOURS[decision], decision)} ${plainText(tool)} (${plainText(code)})`);
  for (const gate of gates) printLine(`  ${gateLine(gate)}`);
  printLine(
    change === null
      ? 'no change of the registry was found that turns the answer'
      : `to ${change.decision} it: ${plainText(change.text)}`,
  );
}

function gateLine({ gate, answer, code, message, rules, registry, next }: GateReport): string {
  const head = `${gate.padEnd(12)} ${paint(COLOURS[answer], answer.replace('_', ' ').padEnd(9))}`;
  const about = message ?? (rules === undefined || rules.length === 0 ? code : rules.join(', '));
  const words = [
    about,
    registry === undefined ? undefined : `(${registry})`,
    next === undefined ? undefined : `– ${next}`,
  ];
  return `${head} ${plainText(words.filter((word) => word !== undefined).join(' '))}`.trimEnd();
}
