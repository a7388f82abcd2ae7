/** `--version`: for people and for whoever pins the tool. */
import { failed, passed, type ToolCheck, warned } from './checks.ts';
import { firstLine, withWords } from './describe-end.ts';
import type { Probe } from './probe.ts';

export async function checkVersion(probe: Probe, version: string | undefined): Promise<ToolCheck[]> {
  const end = await probe.ask('--version');
  const text = end.stdout.bytes.toString('utf8').trim();
  const next = 'print the version on one line and exit with 0';
  if (end.isOverdue || end.exitCode !== 0) return [failed('version.answers', { message: withWords(end), next })];
  if (text === '') return [failed('version.answers', { message: 'printed nothing', next })];
  if (text.includes('\n')) return [failed('version.answers', { message: 'printed more than one line', next })];
  const answered = passed('version.answers', firstLine(end.stdout.bytes));
  if (version === undefined) return [answered];
  if (text.includes(version)) return [answered, passed('version.matches', version)];
  const message = `says ${firstLine(end.stdout.bytes)}, --capabilities says ${version}`;
  return [answered, warned('version.matches', { message, next: 'keep the version in one place' })];
}
