/**
 * The places a head can be noted at, and how each is written and read. All of them hold the same lines, so a URL needs no
 * more than a program that appends what it is sent and answers with all of it.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { GitRepository } from '../contracts/git.ts';
import type { HttpAnswer, OpenHttpClient } from '../contracts/http.ts';
import type { ChainHead } from '../contracts/journal.ts';
import type { WitnessSettings } from '../contracts/registry.ts';
import { addToWitness, checkWitness, headsIn, readWitness, witnessLine } from '../platform/state/witness-file.ts';

export interface WitnessPlace {
  /** As messages call it. */
  readonly name: string;
  /** What it has noted of this journal, oldest first. Rejects when it cannot be asked. */
  heads(): Promise<readonly ChainHead[]>;
  add(head: ChainHead): Promise<void>;
}

export interface WitnessMeans {
  /** Absolute and without links: what the lines call the journal. */
  readonly state: string;
  readonly workspace: string;
  /** Runs in the repository of the workspace. */
  useGit<T>(use: (git: GitRepository) => Promise<T>): Promise<T>;
  openHttp(host: string): OpenHttpClient;
}

const TIME_LIMIT_MS = 30_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** Throws ToolError for a file in the workspace or the state folder. */
export function openWitness(settings: WitnessSettings, means: WitnessMeans): WitnessPlace {
  if ('file' in settings) return inFile(settings.file, means);
  return 'git_ref' in settings ? inGitRef(settings.git_ref, means) : atUrl(settings.url, means);
}

function inFile(file: string, { state, workspace }: WitnessMeans): WitnessPlace {
  checkWitness(file, [workspace, state]);
  return {
    name: file,
    heads: async () => readWitness(file, state),
    add: async (head) => addToWitness(file, head, state),
  };
}

/** Each head is a commit without files behind the one before, with its line as the message. */
function inGitRef(ref: string, { state, useGit }: WitnessMeans): WitnessPlace {
  const read = (git: GitRepository, words: readonly string[], signal: AbortSignal) =>
    git.run({ words, access: 'read', maxBytes: MAX_BYTES, accept: [0, 1], signal });
  const newest = async (git: GitRepository, signal: AbortSignal): Promise<string> => {
    const { stdout } = await read(git, ['rev-parse', '--verify', '--quiet', `${ref}^{commit}`], signal);
    return stdout.toString('latin1').trim();
  };
  return {
    name: ref,
    heads: () =>
      useGit(async (git) => {
        const signal = AbortSignal.timeout(TIME_LIMIT_MS);
        const tip = await newest(git, signal);
        if (tip === '') return [];
        const { stdout } = await read(git, ['log', '--reverse', '--first-parent', '--format=%B', tip], signal);
        return headsIn(stdout.toString('utf8'), state);
      }),
    add: (head) =>
      useGit(async (git) => {
        const signal = AbortSignal.timeout(TIME_LIMIT_MS);
        const write = async (words: readonly string[], stdin: string): Promise<string> =>
          (await git.run({ words, access: 'write', stdin, env: AUTHOR, signal })).stdout.toString('latin1').trim();
        const tip = await newest(git, signal);
        const tree = await write(['hash-object', '-t', 'tree', '-w', '--stdin'], '');
        const parent = tip === '' ? [] : ['-p', tip];
        const commit = await write(['commit-tree', tree, ...parent], `${witnessLine(head, state)}\n`);
        await write(['update-ref', '-m', 'tool-runtime: head of the journal', ref, commit, tip], '');
      }),
  };
}

const AUTHOR = {
  GIT_AUTHOR_NAME: 'Tool Runtime',
  GIT_AUTHOR_EMAIL: 'witness@tool-runtime.invalid',
  GIT_COMMITTER_NAME: 'Tool Runtime',
  GIT_COMMITTER_EMAIL: 'witness@tool-runtime.invalid',
};

function atUrl(url: string, { state, openHttp }: WitnessMeans): WitnessPlace {
  const send = async (method: 'GET' | 'POST', line?: string): Promise<HttpAnswer> => {
    const http = openHttp(new URL(url).host);
    try {
      const answer = await http.send({
        ...{ method, url, timeoutMs: TIME_LIMIT_MS, maxBytes: MAX_BYTES },
        headers: line === undefined ? { accept: 'text/plain' } : { 'content-type': 'text/plain' },
        body: line === undefined ? null : Buffer.from(line),
      });
      if (answer.status < 200 || answer.status > 299 || answer.truncated) throw refused(url, answer);
      return answer;
    } finally {
      http.close();
    }
  };
  return {
    name: url,
    heads: async () => headsIn(Buffer.from((await send('GET')).body).toString('utf8'), state),
    async add(head) {
      await send('POST', `${witnessLine(head, state)}\n`);
    },
  };
}

function refused(url: string, { status, truncated }: HttpAnswer): ToolError {
  const why = truncated ? `more than ${MAX_BYTES} bytes` : `status ${status}`;
  return new ToolError('E_HTTP', `Witness answered with ${why}: ${url}`, {
    details: { reason: 'witness_refused', next: 'check the program behind the URL' },
  });
}
