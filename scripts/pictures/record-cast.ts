/** A terminal session as an asciicast: real commands of the built program, and what they print. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const COMMANDS = [
  'tool-runtime demo .',
  'tool-runtime call fs_list path=.',
  'tool-runtime call file_read path=../../etc/passwd',
  'tool-runtime audit list',
  'tool-runtime audit verify',
];
const PROGRAM = path.join(import.meta.dirname, '../../packages/host/bin/tool-runtime.js');
/** Typing and reading take a person this long; the time of the commands is their own. */
const TYPE_S = 0.04;
const READ_S = 1;

export async function recordCast(): Promise<string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'cast-'));
  const lines = [JSON.stringify({ version: 2, width: 110, height: 32, title: 'tool-runtime' })];
  let at = 0;
  const say = (text: string): void => {
    lines.push(JSON.stringify([Number(at.toFixed(2)), 'o', text.replaceAll(/\r?\n/g, '\r\n')]));
  };
  try {
    for (const command of COMMANDS) {
      say('$ ');
      for (const letter of command) {
        at += TYPE_S;
        say(letter);
      }
      say('\n');
      const started = performance.now();
      const printed = await run(command, folder);
      at += (performance.now() - started) / 1000;
      say(printed.replaceAll(folder, '~'));
      at += READ_S;
    }
  } finally {
    for (const made of [folder, stateOf(folder)]) rmSync(made, { recursive: true, force: true });
  }
  return `${lines.join('\n')}\n`;
}

const stateOf = (folder: string): string => `${folder}-state`;

function run(command: string, folder: string): Promise<string> {
  const [, ...args] = command.split(' ');
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    env: {
      ...process.env,
      TOOL_RUNTIME_STATE: stateOf(folder),
      FORCE_COLOR: '1',
    },
  });
  return new Promise((resolve, reject) => {
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        printed += chunk.toString('utf8');
      });
    }
    child.on('error', reject);
    child.on('close', () => resolve(printed));
  });
}
