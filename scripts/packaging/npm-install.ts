/** npm install, once more when it fails: what it needs comes over a network. */
import { mustRun, type ProgramPlace, runProgram } from './run-program.ts';

const QUIET = ['--no-audit', '--no-fund', '--no-update-notifier', '--prefer-offline'];

export async function npmInstall(args: readonly string[], place: ProgramPlace): Promise<void> {
  const words = ['install', ...QUIET, ...args];
  const { ok } = await runProgram('npm', words, place);
  if (!ok) await mustRun('npm', words, place);
}
