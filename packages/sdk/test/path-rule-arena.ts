/** A workspace in which an attacker exchanges `allowed/folder` and a link to `secret`, and rules that allow `allowed/**`. */
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isToolError, ToolError } from '@tool-runtime/protocol';
import type { Workspace } from '../src/contracts/workspace.ts';
import { openRoot } from '../src/platform/descriptors/root.ts';
import { createWorkspace } from '../src/platform/files/workspace.ts';
import { callPathRule, compilePathClause } from '../src/policy/path-rule.ts';
import { startAttacker } from './swapping-attacker.ts';

export type Backend = 'openat2' | 'walk';

export interface Arena {
  readonly ruled: Workspace;
  /** Judged by name first, written without rules afterwards. */
  naive(round: number): void;
  /** Names and contents below `secret` that were not there at the start. */
  touched(): readonly string[];
  close(): Promise<void>;
}

const FILE = 'allowed/folder/file';
const rule = callPathRule({
  clauses: [
    compilePathClause(['allowed/**'], {
      gate: 'arguments',
      keys: ['path'],
      everyWrite: true,
      refuse: () => new ToolError('E_POLICY', 'not allowed'),
    }),
  ],
  named: [{ key: 'path', value: 'allowed/folder', isSet: false }],
  prefix: '.',
});

export async function openArena(base: string, backend: Backend): Promise<Arena> {
  const inside = join(base, 'workspace');
  for (const folder of ['allowed/folder', 'secret']) {
    mkdirSync(join(inside, folder), { recursive: true });
    writeFileSync(join(inside, folder, 'file'), folder === 'secret' ? 'secret' : 'allowed');
  }
  symlinkSync('../secret', join(inside, 'allowed/trap'));
  const stopAttacker = await startAttacker(join(inside, 'allowed'));
  const root = openRoot(inside, { backend });
  const workspace = createWorkspace(root);
  if (rule === undefined) throw new TypeError('The rule is empty');
  return {
    ruled: workspace.under(rule),
    naive(round) {
      try {
        const { path, location } = workspace.locate(FILE, 'through');
        rule.check({ path, location, access: 'write' });
        workspace.writeFile(`allowed/folder/new-${round % 3}`, Buffer.from('x'));
      } catch (thrown) {
        if (!isToolError(thrown)) throw thrown;
      }
    },
    touched: () =>
      readdirSync(join(inside, 'secret'))
        .map((name) => `${name}=${readFileSync(join(inside, 'secret', name), 'utf8')}`)
        .filter((entry) => entry !== 'file=secret'),
    async close() {
      await stopAttacker();
      root.close();
    },
  };
}

type Action = (workspace: Workspace, round: number) => unknown;

/** Each answers `allowed` when it got through, or what it read. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  reading: async (workspace) => Buffer.from((await workspace.readFile(FILE)).bytes).toString(),
  writing: async (workspace, round) => {
    await workspace.writeFile(`allowed/folder/new-${round % 7}`, Buffer.from('x'));
    return 'allowed';
  },
  'making folders': async (workspace, round) => {
    await workspace.writeFile(`allowed/folder/deep-${round}/new`, Buffer.from('x'), { createDirs: true });
    return 'allowed';
  },
  removing: async (workspace, round) => {
    const path = `allowed/folder/gone-${round}`;
    await workspace.writeFile(path, Buffer.from('x'));
    await workspace.remove(path, { recursive: false });
    return 'allowed';
  },
  moving: async (workspace, round) => {
    await workspace.writeFile(`allowed/moved-${round}`, Buffer.from('x'));
    await workspace.move(`allowed/moved-${round}`, `allowed/folder/moved-${round}`, { overwrite: true });
    return 'allowed';
  },
  copying: async (workspace, round) => {
    await workspace.copy(FILE, `allowed/copy-${round % 7}`, { overwrite: true, preserveMode: true });
    return Buffer.from((await workspace.readFile(`allowed/copy-${round % 7}`)).bytes).toString();
  },
};

export async function playRace(workspace: Workspace, action: string, rounds: number): Promise<Record<string, number>> {
  const act = ACTIONS[action];
  const answers: Record<string, number> = {};
  const isOver = (round: number): boolean =>
    round >= rounds && (answers['allowed'] ?? 0) > 0 && (answers['E_POLICY'] ?? 0) > 0;
  for (let round = 0; !isOver(round) && round < rounds + 100_000; round++) {
    let answer: string;
    try {
      answer = String(await act?.(workspace, round));
    } catch (thrown) {
      if (!isToolError(thrown)) throw thrown;
      answer = thrown.code;
    }
    answers[answer] = (answers[answer] ?? 0) + 1;
  }
  return answers;
}
