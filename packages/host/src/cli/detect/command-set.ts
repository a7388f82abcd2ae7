/** Commands of a project as they are put together: what is undefined is left out. */
import type { ProjectCommands } from './detected-project.ts';

type Draft = { readonly [Step in keyof ProjectCommands]: string | undefined };

const STEPS = ['build', 'test', 'lint', 'fmt'] as const;

export function commandSet(draft: Draft): ProjectCommands {
  return Object.fromEntries(STEPS.flatMap((step) => (draft[step] === undefined ? [] : [[step, draft[step]]])));
}

/** The same step of several projects, one after the other: it passes when all pass. */
export function joinCommands(sets: readonly ProjectCommands[]): ProjectCommands {
  const joined = STEPS.map((step) => {
    const commands = new Set(sets.flatMap((set) => set[step] ?? []));
    return [step, commands.size === 0 ? undefined : [...commands].join(' && ')] as const;
  });
  return commandSet(Object.fromEntries(joined));
}

/** Patterns for the single commands of all steps: the runtime judges each side of `&&` and `|` by itself. */
export function allowPatterns(commands: ProjectCommands, scripts: readonly string[]): readonly string[] {
  const lines = new Set(singleCommands(commands).filter((line) => !scripts.some((script) => isCallOf(line, script))));
  return [
    ...[...lines].map((line) => `^${escapePattern(line)}$`),
    ...scripts.map((script) => `^${escapePattern(script)}( .*)?$`),
  ];
}

export function singleCommands(commands: ProjectCommands): readonly string[] {
  return STEPS.flatMap((step) => commands[step]?.split(/ (?:&&|\|) /) ?? []);
}

function isCallOf(line: string, script: string): boolean {
  return line === script || line.startsWith(`${script} `);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
