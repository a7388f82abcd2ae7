/**
 * One bash that is asked again and again which commands it would run for a line. It can start nothing: its path is empty,
 * and callers pass only lines whose words are made of letters that no built-in is made of.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

/**
 * A name that begins with x succeeds. A wildcard that finds nothing leaves nothing, so that it is noticed. Words go out
 * with their number in front, because they may hold anything but NUL.
 */
const SCRIPT = `
PATH=/nowhere
shopt -u progcomp
shopt -s nullglob
command_not_found_handle() {
  printf '%s\\0' "$#" "$@" >&3
  [[ $1 == x* ]]
}
while IFS= read -r -d '' line; do
  eval "$line" </dev/null
  printf 'end\\0' >&3
done
`;

const END = Buffer.from('\0end\0');

export class BashRecorder {
  readonly #folder = mkdtempSync(join(tmpdir(), 'fuzz-bash-'));
  readonly #bash: ChildProcess;
  #seen = Buffer.from('\0');
  #wake: (() => void) | undefined;

  constructor() {
    this.#bash = spawn('bash', ['--norc', '--noprofile', '-c', SCRIPT], {
      cwd: this.#folder,
      env: { HOME: '/expanded/home', LC_ALL: 'C.UTF-8' },
      stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
    });
    const record = this.#bash.stdio[3] as Readable;
    record.on('data', (chunk: Buffer) => {
      this.#seen = Buffer.concat([this.#seen, chunk]);
      this.#wake?.();
    });
  }

  /** Argument lists in the order they were run; inside a pipeline any order may come out. */
  async run(line: string): Promise<readonly (readonly string[])[]> {
    (this.#bash.stdin as Writable).write(`${line}\0`);
    while (!this.#seen.subarray(-END.length).equals(END)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const fields = this.#seen
      .subarray(1, this.#seen.length - END.length)
      .toString('utf8')
      .split('\0');
    this.#seen = Buffer.from('\0');
    return fields.length === 1 && fields[0] === '' ? [] : readRuns(fields);
  }

  close(): void {
    this.#bash.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

function readRuns(fields: readonly string[]): readonly (readonly string[])[] {
  const runs: string[][] = [];
  for (let at = 0; at < fields.length; ) {
    const count = Number(fields[at]);
    runs.push(fields.slice(at + 1, at + 1 + count));
    at += 1 + count;
  }
  return runs;
}
