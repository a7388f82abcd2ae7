/** What the verbs of `fleet` share: the file, the package, and how lists are printed. */
import { ToolError } from '@tool-runtime/protocol';
import type { Command } from 'commander';
import { plainText, printJson, printLine } from '../../../terminal/terminal.ts';

export interface FleetVerbOptions {
  readonly fleet: string;
  readonly json?: boolean;
}

export function withFleetOptions(command: Command): Command {
  return command
    .addOption(
      command
        .createOption('--fleet <file>', 'how to reach the fleet; fleet dev prints the name of one')
        .env('TOOL_RUNTIME_FLEET')
        .default('fleet.yaml'),
    )
    .option('--json', 'machine-readable output');
}

export async function loadOperate() {
  try {
    return await import('@tool-runtime/fleet/operate');
  } catch (cause) {
    throw missing(cause);
  }
}

export async function loadClient() {
  try {
    return await import('@tool-runtime/fleet');
  } catch (cause) {
    throw missing(cause);
  }
}

function missing(cause: unknown): ToolError {
  return new ToolError('E_VALIDATION_FAIL', 'The package @tool-runtime/fleet is not installed', {
    details: { reason: 'package_missing', next: 'npm install @tool-runtime/fleet' },
    cause,
  });
}

/** One JSON value, or one line per row with columns of equal width. */
export function printRows(rows: readonly object[], lines: readonly (readonly string[])[], isJson: boolean): void {
  if (isJson) {
    printJson(rows, { compact: true });
    return;
  }
  const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((cells) => cells[at]?.length ?? 0)));
  for (const cells of lines) {
    printLine(
      cells
        .map((cell, at) => plainText(cell).padEnd(at === cells.length - 1 ? 0 : (widths[at] ?? 0)))
        .join('  ')
        .trimEnd(),
    );
  }
}
