/** Keeps of a detected project what can run on this machine: a rule whose program is missing would block every commit. */
import { allowPatterns, singleCommands } from './command-set.ts';
import type { DetectedProject, ProjectCommands } from './detected-project.ts';
import type { MissingSteps } from './render-registry.ts';

export interface PresentProject {
  readonly detected: DetectedProject;
  readonly missing: MissingSteps;
}

/** `isPresent` tells whether commands find a program inside the sandbox. */
export function keepPresent(detected: DetectedProject, isPresent: (program: string) => boolean): PresentProject {
  const steps = Object.entries(detected.commands) as [keyof ProjectCommands, string][];
  const absentIn = (command: string) =>
    singleCommands({ build: command })
      .map(programOf)
      .find((program) => !isPresent(program));
  const commands = Object.fromEntries(steps.filter(([, command]) => absentIn(command) === undefined));
  const missing = steps.flatMap(([step, command]) => {
    const program = absentIn(command);
    return program === undefined ? [] : [[step, { command, program }]];
  });
  const scripts = detected.scripts.filter((script) => isPresent(programOf(script)));
  return {
    detected: { ...detected, commands, scripts, shellAllow: allowPatterns(commands, scripts) },
    missing: Object.fromEntries(missing),
  };
}

/** Runners of environments, such as `poetry run`, bring their programs along. */
function programOf(command: string): string {
  return command.split(' ')[0] ?? '';
}
