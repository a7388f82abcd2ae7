/**
 * The workspace the suite plays on: real files and a real command that runs until it is let go, prints while it waits
 * and leaves a trace of every run. Nothing here depends on how long anything takes.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const MAX_REQUEST_BYTES = 64 * 1024;

export const REGISTRY = `version: 1
isolation: none
shell_allow: ['^sh wait[.]sh$']
approvals:
  auto_approve: [shell_exec, file_write]
  require_approval: [fs_delete]
limits:
  max_request_bytes: ${MAX_REQUEST_BYTES}
`;

const WAIT = `read name
count=0
while [ ! -e "go-$name" ]; do
  count=$((count + 1))
  echo "tick $count"
  sleep 0.04
done
echo "$name" >> runs.txt
echo "done $name"
`;

const STAGE_FILES = { 'hello.txt': 'hello\n', 'wait.sh': WAIT } as const;

export class Stage {
  readonly folder: string;
  #names = 0;

  constructor(folder: string) {
    this.folder = folder;
  }

  static prepare(folder: string): Stage {
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of Object.entries(STAGE_FILES)) writeFileSync(join(folder, name), text);
    return new Stage(folder);
  }

  /** A name nobody else uses. */
  name(): string {
    this.#names += 1;
    return `n${this.#names}`;
  }

  /** Lets the command of this name go, before or after it began. */
  release(name: string): void {
    writeFileSync(join(this.folder, `go-${name}`), '');
  }

  /** How often the command of this name ran to its end. */
  runs(name: string): number {
    const file = join(this.folder, 'runs.txt');
    if (!existsSync(file)) return 0;
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line === name).length;
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  has(name: string): boolean {
    return existsSync(join(this.folder, name));
  }
}
