/**
 * Who commits. Git runs without the operator's own configuration, so their name is looked up here: in the environment of
 * this process, then in the operator's configuration file, read as text by git itself.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { GitConfig, GitIdentity } from '../../contracts/git.ts';
import type { Spawner } from '../processes/spawned-process.ts';
import { runProgram } from '../sandbox/run-program.ts';

export interface IdentitySources {
  readonly config: GitConfig;
  readonly actor: string;
  readonly spawner: Spawner;
  readonly program: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export async function findIdentity({
  config,
  actor,
  spawner,
  program,
  environment,
}: IdentitySources): Promise<GitIdentity> {
  const fromFile = async (key: string): Promise<string | undefined> => {
    for (const file of globalFiles(environment)) {
      const value = await readKey(file, key, { spawner, program });
      if (value !== undefined) return value;
    }
    return undefined;
  };
  const name = config.get('user.name') ?? environment['GIT_AUTHOR_NAME'] ?? (await fromFile('user.name'));
  const email = config.get('user.email') ?? environment['GIT_AUTHOR_EMAIL'] ?? (await fromFile('user.email'));
  if (name !== undefined && name !== '' && email !== undefined && email !== '') return { name, email, madeUp: false };
  const plain = actor.replace(/[^\p{L}\p{N} ._-]/gu, '').trim() || 'tool-runtime';
  const local = plain.normalize('NFKD').replace(/[^A-Za-z0-9._-]/g, '') || 'tool-runtime';
  return { name: name ?? plain, email: email ?? `${local}@tool-runtime.invalid`, madeUp: true };
}

function globalFiles(environment: IdentitySources['environment']): readonly string[] {
  const home = environment['HOME'] ?? homedir();
  const configHome = environment['XDG_CONFIG_HOME'] ?? join(home, '.config');
  const named = environment['GIT_CONFIG_GLOBAL'];
  const files = named === undefined ? [join(home, '.gitconfig'), join(configHome, 'git', 'config')] : [named];
  return [...files, '/etc/gitconfig'].filter((file) => existsSync(file));
}

/** The operator's own file, one key of it. Reading starts nothing. */
async function readKey(
  file: string,
  key: string,
  { spawner, program }: Pick<IdentitySources, 'spawner' | 'program'>,
): Promise<string | undefined> {
  const running = await runProgram(
    { file: program, args: ['config', '--file', file, '--includes', '-z', '--get', key] },
    { folder: '/', spawner },
  );
  const chunks: Buffer[] = [];
  for await (const chunk of running.stdout) chunks.push(chunk as Buffer);
  const { code } = await running.ended;
  const value = Buffer.concat(chunks).toString('utf8').replace(/\0$/, '');
  return code === 0 && value !== '' ? value : undefined;
}
