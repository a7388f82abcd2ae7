/** Runs the consumers' programs and the command against an installation, as its owner would. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Finding } from '../structure/finding.ts';
import type { Installation } from './install-packages.ts';
import { packagingFinding } from './packaging-finding.ts';
import { type ProgramEnd, runProgram } from './run-program.ts';
import { placeProgram } from './try-entries.ts';

export async function tryProgram(name: string, { folder, env, node }: Installation): Promise<Finding[]> {
  const end = await runProgram('node', [placeProgram(name, folder)], { cwd: folder, env });
  return end.ok ? [] : [fail(`${name} on Node ${node.major}`, end)];
}

interface CommandTrial {
  readonly words: readonly string[];
  readonly answer: RegExp;
}

export async function tryCommand(installation: Installation, version: string): Promise<Finding[]> {
  const { folder, node } = installation;
  const workspace = path.join(folder, '..', 'workspace');
  mkdirSync(workspace, { recursive: true });
  writeFileSync(path.join(workspace, 'hello.txt'), 'hello\n');
  const trials: readonly CommandTrial[] = [
    { words: ['--version'], answer: new RegExp(`^${RegExp.escape(version)}\n$`) },
    { words: ['doctor'], answer: new RegExp(`^ok +node +${node.major}\\.`) },
    {
      words: ['call', 'file_read', 'path=hello.txt', '--workspace', workspace, '--json'],
      answer: /"ok":true.*hello\\n/,
    },
  ];
  return [
    ...(await tryWords('tool-runtime', trials, installation)),
    ...(await tryWords('tool-runtime-conformance', conformanceTrials(folder, version), installation)),
  ];
}

/** The suite, run against the command beside it. */
function conformanceTrials(folder: string, version: string): readonly CommandTrial[] {
  const program = `node ${path.join(folder, 'node_modules/@tool-runtime/host/bin/tool-runtime.js')}`;
  const target = ['--profile', 'tool-runtime-mcp', '--define', `program=${program}`];
  return [
    { words: ['--version'], answer: new RegExp(`^${RegExp.escape(version)}\n$`) },
    { words: [...target, '--only', 'edits.'], answer: /: 14 passed, 0 failed, 0 not applicable\n$/ },
  ];
}

async function tryWords(
  command: string,
  trials: readonly CommandTrial[],
  { folder, env, node }: Installation,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { words, answer } of trials) {
    const end = await runProgram('npx', ['--no-install', command, ...words], { cwd: folder, env });
    if (!end.ok || !answer.test(end.stdout))
      findings.push(fail(`npx ${command} ${words[0]} on Node ${node.major}`, end));
  }
  return findings;
}

function fail(subject: string, { stdout, stderr }: ProgramEnd): Finding {
  const what = `Does not work: ${`${stdout}\n${stderr}`.trim()}`;
  return packagingFinding('installed', subject, what, 'Install the packed files into an empty folder and try it there');
}
