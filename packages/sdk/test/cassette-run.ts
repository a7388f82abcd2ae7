/** Runs with a cassette: a workspace and a state folder of their own for each, one folder for the cassettes. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ToolResponse } from '@tool-runtime/protocol';
import type { CassetteOptions } from '../src/contracts/cassette.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../src/runtime.ts';
import type { Session } from '../src/session/session.ts';

export interface TapedRun {
  readonly runtime: Runtime;
  readonly session: Session;
  readonly workspace: string;
  readonly state: string;
}

export interface TapeFolder {
  /** A file in the folder. */
  file(name?: string): string;
  read(name?: string): string;
  lines(name?: string): readonly Record<string, unknown>[];
  write(text: string, name?: string): void;
  /** Opens a runtime on an empty workspace, uses it and closes it. */
  run<T>(
    how: Partial<CassetteOptions>,
    use: (run: TapedRun) => Promise<T>,
    options?: Partial<RuntimeOptions> & { readonly files?: Readonly<Record<string, string>> },
  ): Promise<T>;
  [Symbol.dispose](): void;
}

export function createTapeFolder(): TapeFolder {
  const root = mkdtempSync(join(tmpdir(), 'tool-runtime-tape-'));
  const file = (name = 'tape.jsonl') => join(root, name);
  const read = (name?: string) => readFileSync(file(name), 'utf8');
  return {
    file,
    read,
    lines: (name) =>
      read(name)
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    write: (text, name) => writeFileSync(file(name), text),
    async run(how, use, { files = {}, ...options } = {}) {
      const folder = mkdtempSync(join(root, 'run-'));
      const [workspace, state] = [join(folder, 'workspace'), join(folder, 'state')];
      mkdirSync(workspace);
      for (const [name, text] of Object.entries(files)) writeFileSync(join(workspace, name), text);
      const cassette: CassetteOptions = { mode: 'record', file: file(), ...how };
      const runtime = await createRuntime({ workspace, state, cassette, ...options });
      try {
        return await use({ runtime, session: await runtime.openSession(), workspace, state });
      } finally {
        await runtime.close();
      }
    },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** What an answer says, without what belongs to one run. */
export function said({ ok, data, errors, warnings, change_id }: ToolResponse) {
  return { ok, data, errors, warnings, change_id };
}

export function reasonOf({ errors }: Pick<ToolResponse, 'errors'>): unknown {
  return errors[0]?.details?.['reason'];
}
