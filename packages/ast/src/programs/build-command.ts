/**
 * The build check of an edit: the registry's command for the touched languages, else for the project, else what the
 * language's profile proposes where `shell_allow` lets it pass.
 */
import type { CommandRunner, Registry } from '@tool-runtime/sdk';
import type { BuildCheck, BuildReport } from '../edit/apply-edit.ts';
import { loadProfile } from '../profile/load-profile.ts';
import { runFilter } from './run-filter.ts';

export interface BuildCommandParts {
  readonly commands: CommandRunner;
  readonly registry: Pick<Registry, 'commands' | 'shellAllow'>;
  languageOf(path: string): string | undefined;
  redact(text: string): string;
}

const SHOWN_CHARACTERS = 4_000;

export function createBuildCheck(parts: BuildCommandParts): BuildCheck {
  return {
    async check({ paths, signal }) {
      let passed: BuildReport | undefined;
      for (const command of commandsFor(paths, parts)) {
        const { code, shown } = await runFilter(parts.commands, { command, stdin: null, signal });
        const output = parts.redact(shown).trim().slice(-SHOWN_CHARACTERS);
        if (code !== 0) return { ok: false, command, output };
        passed = { ok: true, command, output };
      }
      return passed;
    },
  };
}

function commandsFor(paths: readonly string[], { registry, languageOf }: BuildCommandParts): readonly string[] {
  const { commands, shellAllow } = registry;
  const languages = [...new Set(paths.flatMap((path) => languageOf(path) ?? []))];
  const ofLanguages = languages.flatMap((language) => commands[`build.${language}`] ?? []);
  if (ofLanguages.length > 0) return [...new Set(ofLanguages)];
  const ofProject = commands['build.must.pass'] ?? commands['build'];
  if (ofProject !== undefined) return [ofProject];
  const proposed = languages.flatMap((language) => loadProfile(language).profile.build);
  return [...new Set(proposed)].filter((line) => shellAllow.some((pattern) => pattern.test(line)));
}
