/** tool-runtime doctor: what this machine offers and what is missing, each with the next step. */
import { spawnSync } from 'node:child_process';
import type { Runtime } from '@tool-runtime/sdk';
import { paint, plainText, printJson, printLine } from '../../terminal/terminal.ts';
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';
import { withRuntime } from '../open-runtime.ts';
import { whileWorking } from '../progress-line.ts';
import type { Finding } from '../project-checks.ts';

export const doctor = defineCommand({
  name: 'doctor',
  summary:
    'Check Node, sandbox, state folder, journal, and what the registry needs: programs, toolchains, hooks, remotes',
  configure(command, done) {
    withSharedOptions(command).action(async (options: SharedOptions) => {
      const findings = [
        nodeVersion(),
        program('git', ['--version']),
        ...(await whileWorking('checking', () => runtimeChecks(options))),
      ];
      if (options.json === true) printJson({ findings }, { compact: true });
      else for (const finding of findings) printLine(line(finding));
      done(findings.some((finding) => finding.state === 'failed') ? 1 : 0);
    });
  },
});

function nodeVersion(): Finding {
  return { check: 'node', state: 'ok', message: process.versions.node };
}

function program(name: string, args: readonly string[]): Finding {
  const found = spawnSync(name, args, { encoding: 'utf8' });
  if (found.error === undefined && found.status === 0)
    return { check: name, state: 'ok', message: found.stdout.trim() };
  return { check: name, state: 'warning', message: `not found; tools that need ${name} will not work` };
}

async function runtimeChecks(options: SharedOptions): Promise<Finding[]> {
  try {
    return await withRuntime(options, async (runtime) => {
      const report = runtime.verify();
      const { projectChecks } = await import('../project-checks.ts');
      return [
        ...sandbox(await runtime.checkWall()),
        gitLocks(await runtime.staleGitLocks()),
        commits(runtime.unfinishedCommits()),
        {
          check: 'paths',
          state: runtime.pathBackend === 'openat2' ? 'ok' : 'warning',
          message:
            runtime.pathBackend === 'openat2'
              ? 'openat2 (the kernel resolves every path below the root)'
              : 'descriptor walk (as safe, slower; install koffi on Linux 5.6 or later for openat2)',
        },
        {
          check: 'journal',
          ...journal(report),
        },
        ...registry(runtime),
        ...(await projectChecks({ workspace: options.workspace, state: options.state, registry: runtime.registry })),
      ];
    });
  } catch (thrown) {
    // The doctor reports what keeps a runtime from starting instead of failing with it.
    const { isToolError } = await import('@tool-runtime/protocol');
    if (!isToolError(thrown)) throw thrown;
    return [{ check: 'runtime', state: 'failed', message: `${thrown.code} ${thrown.message}` }];
  }
}

function registry({ warnings, registry: { fingerprint } }: Runtime): readonly Finding[] {
  if (warnings.length === 0) return [{ check: 'registry', state: 'ok', message: fingerprint }];
  return warnings.map(({ message, details }): Finding => {
    const ignored = details?.['ignored'];
    const list = Array.isArray(ignored) ? `: ${ignored.join('; ')}` : '';
    return { check: 'registry', state: 'warning', message: `${message}${list}` };
  });
}

function journal({ ok, records, broken, losses = [] }: ReturnType<Runtime['verify']>): Omit<Finding, 'check'> {
  if (!ok) return { state: 'failed', message: `broken at ${broken?.seq}: ${broken?.reason}` };
  const places = losses.map(({ after }) => after).join(', ');
  if (losses.length === 0) return { state: 'ok', message: `${records} records verified` };
  return {
    state: 'warning',
    message: `${records} records verified; records may be missing after ${places}, where the machine stopped; use durability: full to prevent this`,
  };
}

/** A sandbox that cannot be set up is no failure of the runtime: what needs it refuses. */
function sandbox({ isolation, problem, overlayProblem }: Awaited<ReturnType<Runtime['checkWall']>>): Finding[] {
  if (problem !== undefined)
    return [{ check: 'sandbox', state: 'warning', message: `${problem.problem}; ${problem.next}` }];
  if (isolation === 'none')
    return [{ check: 'sandbox', state: 'warning', message: 'off: the registry sets isolation to none' }];
  return [
    { check: 'sandbox', state: 'ok', message: `${isolation}, tested just now` },
    overlayProblem === undefined
      ? { check: 'overlay', state: 'ok', message: 'commands can be recorded and previewed (effects), tested just now' }
      : { check: 'overlay', state: 'warning', message: overlayProblem },
  ];
}

function gitLocks(stale: readonly string[]): Finding {
  if (stale.length === 0) return { check: 'locks', state: 'ok', message: 'no stale git locks' };
  const message = `left by a git process that this runtime did not start: ${stale.join(', ')}; remove them if no git is running`;
  return { check: 'locks', state: 'warning', message };
}

function commits(left: number): Finding {
  if (left === 0) return { check: 'commits', state: 'ok', message: 'no unfinished changes of several files' };
  const message = `${left} unfinished after a kill; make room on the disk or fix its permissions, and start again`;
  return { check: 'commits', state: 'failed', message };
}

function line({ check, state, message }: Finding): string {
  const colour = state === 'ok' ? 'green' : state === 'warning' ? 'yellow' : 'red';
  return `${paint(colour, state.padEnd(8))} ${check.padEnd(9)} ${plainText(message)}`;
}
