/**
 * Checks a program against the protocol of external tools, by running it.
 *
 * It runs as a plain child process of whoever checks it, in a temporary folder and with the restricted environment of
 * a run, about fifteen times. Nothing isolates it: check programs you would also run.
 */
import { checkCapabilities } from './check-capabilities.ts';
import { checkStdin, checkTermination, checkTraces, readSurroundings } from './check-conduct.ts';
import { checkRefusals } from './check-refusals.ts';
import { checkRun } from './check-run.ts';
import { checkVersion } from './check-version.ts';
import type { ToolCheckReport } from './checks.ts';
import { type CheckToolOptions, Probe } from './probe.ts';

/** Throws E_VALIDATION_FAIL or E_SHELL when the program cannot be started at all. */
export async function checkTool(options: CheckToolOptions): Promise<ToolCheckReport> {
  const probe = new Probe(options);
  try {
    return await runChecks(probe);
  } finally {
    probe.close();
  }
}

async function runChecks(probe: Probe): Promise<ToolCheckReport> {
  const before = readSurroundings(probe);
  const { checks: capabilities, name, version, withPack } = await checkCapabilities(probe);
  probe.settle({ name, withPack });
  const versions = await checkVersion(probe, version);
  const { checks: good, run } = await checkRun(probe, name);
  // One that does not end would cost the whole time again, each time.
  const further = run.isOverdue ? [] : [...(await checkRefusals(probe)), await checkStdin(probe, run)];
  const termination = await checkTermination(probe, run);
  const checks = [...capabilities, ...versions, ...good, ...further, termination, ...checkTraces(probe, before)];
  const count = (status: string): number => checks.filter((check) => check.status === status).length;
  return { name, version, checks, passed: count('pass'), warned: count('warn'), failed: count('fail') };
}
