/**
 * The workspace the suite plays on: real files and a real command that runs until it is let go, prints while it waits
 * and leaves a trace of every run. Nothing here depends on how long anything takes.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const MAX_REQUEST_BYTES = 64 * 1024;

export const REGISTRY = `version: 1
isolation: none
shell_allow: ['^sh wait$']
approvals:
  auto_approve: [shell_exec, file_write]
  require_approval: [fs_delete]
limits:
  max_request_bytes: ${MAX_REQUEST_BYTES}
`;

const WAIT = `count=0
while [ ! -e go ]; do
  count=$((count + 1))
  echo "tick $count"
  sleep 0.04
done
echo run >> runs
echo done
`;

export class Stage {
  readonly folder: string;
  #names = 0;

  /** Puts the files in place. */
  constructor(folder: string) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    this.write('hello.txt', 'hello\n');
  }

  /** A folder of its own with the command in it: commands in one folder would wait for each other. */
  name(): string {
    this.#names += 1;
    const name = `n${this.#names}`;
    mkdirSync(join(this.folder, name));
    this.write(join(name, 'wait'), WAIT);
    return name;
  }

  /** Lets the command of this name go, before or after it began. */
  release(name: string): void {
    this.write(join(name, 'go'), '');
  }

  /** How often the command of this name ran to its end. */
  runs(name: string): number {
    const file = join(this.folder, name, 'runs');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  has(name: string): boolean {
    return existsSync(join(this.folder, name));
  }
}
