/** Runs the command in a real pseudo-terminal, which `script` of util-linux opens. */
import { spawnSync } from 'node:child_process';
import { FROM_SOURCE } from './run-cli.ts';

export interface TerminalRun {
  readonly code: number | null;
  /** Everything that was shown, stdout and stderr, with plain line ends. */
  readonly screen: string;
}

export function runInTerminal(args: readonly string[], env: Readonly<Record<string, string>> = {}): TerminalRun {
  // Each of them switches colours off or on, whatever the terminal can do.
  const { CI, NO_COLOR, FORCE_COLOR, NODE_DISABLE_COLORS, ...inherited } = process.env;
  const command = [process.execPath, ...FROM_SOURCE, ...args].map(quoted).join(' ');
  const { status, stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
    env: { ...inherited, TERM: 'xterm', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  return { code: status, screen: stdout.replaceAll('\r\n', '\n') };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
