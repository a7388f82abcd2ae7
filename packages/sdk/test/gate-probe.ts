/** A tool that means to do something with git and does nothing: what its calls answer is the word of the rules alone. */
import type { ErrorEntry } from '@tool-runtime/protocol';
import { z } from 'zod';
import { GIT_VERBS, type GitIntent } from '../src/contracts/git.ts';
import { type AnyTool, defineTool } from '../src/contracts/tool.ts';
import {
  createRepository,
  type FileSet,
  type GitRuntime,
  openGitRuntime,
  type TestRepository,
} from './git-repository.ts';

export const gateProbe: AnyTool = defineTool({
  name: 'gate_probe',
  category: 'probe',
  title: 'Gate',
  summary: 'Passes the gates of a git verb and stops there',
  args: z.strictObject({
    verb: z.enum(GIT_VERBS),
    message: z.string().exactOptional(),
    newBranch: z.string().exactOptional(),
    remote: z.string().exactOptional(),
    refspec: z.string().exactOptional(),
    overrides: z.record(z.string(), z.string()).exactOptional(),
  }),
  data: z.strictObject({ tree: z.string().nullable() }),
  annotations: { kind: 'edit', side_effect_level: 'workspace_write' },
  effect: 'write',
  risk: 'medium',
  timeoutMs: 60_000,
  git: (intent): GitIntent => intent,
  run: (_args, { candidate }) => ({ tree: candidate?.tree ?? null }),
});

export interface GateAnswer {
  readonly ok: boolean;
  readonly error: ErrorEntry | undefined;
  readonly warnings: readonly ErrorEntry[];
  /** Everything the answer says, for what must not be in it. */
  readonly text: string;
}

export interface Gate {
  readonly repository: TestRepository;
  /** Asks to commit what is staged unless the intent says otherwise. */
  ask(intent?: Partial<GitIntent>): Promise<GateAnswer>;
  /** Writes and stages. */
  stage(files: FileSet): void;
}

export interface GateOptions {
  /** The registry below `version: 1`. */
  readonly registry?: string;
  /** Committed before; without any HEAD is unborn. */
  readonly files?: FileSet;
  readonly objectFormat?: 'sha1' | 'sha256';
  readonly runtime?: Omit<Parameters<typeof openGitRuntime>[1] & object, 'registry' | 'tools'>;
}

export async function withGate(options: GateOptions, use: (gate: Gate) => Promise<void>): Promise<void> {
  const { files, objectFormat = 'sha1', registry = '', runtime = {} } = options;
  const repository = createRepository({ objectFormat, ...(files === undefined ? {} : { files }) });
  try {
    const text = `version: 1\n${registry}\n`;
    const open = await openGitRuntime(repository, { ...runtime, tools: [gateProbe], registry: text });
    try {
      await use({ repository, ...askAndStage(repository, open) });
    } finally {
      await open.dispose();
    }
  } finally {
    repository.dispose();
  }
}

function askAndStage(repository: TestRepository, runtime: GitRuntime): Pick<Gate, 'ask' | 'stage'> {
  return {
    async ask(intent = {}) {
      const response = await runtime.ask('gate_probe', { verb: 'commit', ...intent });
      const { ok, errors, warnings } = response;
      return { ok, error: errors[0], warnings, text: JSON.stringify(response) };
    },
    stage(changed) {
      repository.write(changed);
      repository.git('add', '--all');
    },
  };
}

/** A registry that puts one rule in force. */
export function inForce(rule: string, level = 'blocking'): string {
  return `validators: [{rule: ${rule}, enforcement: ${level}}]`;
}
