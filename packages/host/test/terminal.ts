/** Runs the command in a real pseudo-terminal, which `script` of util-linux opens. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';
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

export interface Terminal {
  /** Everything shown so far, with plain line ends. */
  screen(): string;
  shows(pattern: RegExp): Promise<void>;
  press(keys: string): void;
  ended(): Promise<number | null>;
  [Symbol.dispose](): void;
}

/** The command in a terminal that stays open; what is written to its input are the keys. */
export function openTerminal(args: readonly string[]): Terminal {
  return openProgram([process.execPath, ...FROM_SOURCE, ...args]);
}

export function openProgram(words: readonly string[]): Terminal {
  const command = words.map(quoted).join(' ');
  const env = { ...process.env, TERM: 'xterm', NO_COLOR: '1' };
  const child: ChildProcess = spawn('script', ['-qfec', command, '/dev/null'], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    shown += stripVTControlCharacters(chunk.toString('utf8')).replaceAll('\r', '');
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    screen: () => shown,
    async shows(pattern) {
      while (!pattern.test(shown)) {
        if (child.exitCode !== null) throw new TypeError(`ended before it showed ${pattern}: ${shown}`);
        await Promise.race([once(child.stdout as NonNullable<typeof child.stdout>, 'data'), ended]);
      }
    },
    press: (keys) => void child.stdin?.write(keys),
    ended: () => ended,
    [Symbol.dispose]: () => void child.kill('SIGKILL'),
  };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
