/**
 * The operator's own git configuration. Git runs without it; what is honoured of it (who commits, sign-offs, signatures,
 * rewritten addresses) is read here as text, by git itself. Reading starts nothing.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { GitConfig } from '../../contracts/git.ts';
import { type ConfigEntry, createConfig, parseConfig } from '../../git/parse-config.ts';
import type { Spawner } from '../processes/spawned-process.ts';
import { runProgram } from '../sandbox/run-program.ts';

export interface OperatorSources {
  readonly spawner: Spawner;
  /** Absolute path of git. */
  readonly program: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A file that git cannot read counts as empty. */
export async function readOperatorConfig({ spawner, program, environment }: OperatorSources): Promise<GitConfig> {
  const entries: ConfigEntry[] = [];
  for (const file of filesOf(environment)) {
    const args = ['config', '--file', file, '--includes', '-z', '--show-origin', '--list'];
    const running = await runProgram({ file: program, args }, { folder: '/', spawner });
    const chunks: Buffer[] = [];
    for await (const chunk of running.stdout) chunks.push(chunk as Buffer);
    const { code } = await running.ended;
    if (code === 0) entries.push(...parseConfig(Buffer.concat(chunks).toString('utf8')));
  }
  return createConfig(entries);
}

/** In git's order: of a key with one value, the last one counts. */
function filesOf(environment: OperatorSources['environment']): readonly string[] {
  const home = environment['HOME'] ?? homedir();
  const configHome = environment['XDG_CONFIG_HOME'] ?? join(home, '.config');
  const named = environment['GIT_CONFIG_GLOBAL'];
  const files = named === undefined ? [join(configHome, 'git', 'config'), join(home, '.gitconfig')] : [named];
  return ['/etc/gitconfig', ...files].filter((file) => existsSync(file));
}
