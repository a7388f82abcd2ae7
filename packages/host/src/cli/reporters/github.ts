/** Workflow commands of GitHub Actions: one annotation for each violation, shown beside the code. */
import type { ReportedViolation, Reporter, ViolationLevel } from './report.ts';

const COMMANDS: Readonly<Record<ViolationLevel, string>> = {
  blocking: 'error',
  warning: 'warning',
  suggestion: 'notice',
};

export const github: Reporter = {
  name: 'github',
  render: ({ violations }) => violations.map((violation) => `${commandFor(violation)}\n`).join(''),
};

function commandFor({ level, path, line, rule, message, next }: ReportedViolation): string {
  const properties = [
    ...(path === undefined ? [] : [`file=${escapeProperty(path)}`]),
    ...(path === undefined || line === undefined ? [] : [`line=${line}`]),
    `title=${escapeProperty(rule)}`,
  ];
  const text = next === undefined ? message : `${message}\nnext: ${next}`;
  return `::${COMMANDS[level]} ${properties.join(',')}::${escapeData(text)}`;
}

/** The percent sign first: it introduces the others. */
function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}
