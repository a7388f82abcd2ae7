/** tool-runtime init: looks at the project and writes a commented registry for it. Never overwrites one. */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxView } from '@tool-runtime/sdk/parts';
import { badUsage } from '../../terminal/bad-usage.ts';
import { printJson, printLine, showWarning } from '../../terminal/terminal.ts';
import { checkWorkspace } from '../../terminal/workspace-folder.ts';
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';
import type { DetectedProject, ProjectReader } from '../detect/detected-project.ts';
import { type MissingSteps, PROFILES, type Profile } from '../detect/render-registry.ts';

interface InitOptions extends SharedOptions {
  readonly dryRun?: boolean;
  readonly for: Profile;
}

const FILE = 'tool-runtime.yaml';
const SCHEMA_FILE = 'tool-runtime.schema.json';
const LARGEST = 1024 * 1024;

export const init = defineCommand({
  name: 'init',
  summary: 'Detect language, package manager and commands, and write a commented tool-runtime.yaml',
  configure(command, done) {
    withSharedOptions(command)
      .addOption(
        command
          .createOption('--for <profile>', 'who will work with it: an agent, a CI job, or a reader')
          .choices(PROFILES)
          .default('ci'),
      )
      .option('--dry-run', 'print the file instead of writing it')
      .action(async (options: InitOptions) => {
        done(await runInit(options));
      });
  },
});

async function runInit(options: InitOptions): Promise<number> {
  checkWorkspace(options.workspace);
  const target = join(options.workspace, FILE);
  const exists = existsSync(target);
  if (exists && options.dryRun !== true) {
    throw badUsage(`Registry exists already: ${FILE}`, 'edit it, or see what would be written with --dry-run');
  }
  const { detectProject } = await import('../detect/detect-project.ts');
  const { renderRegistry } = await import('../detect/render-registry.ts');
  const { keepPresent } = await import('../detect/keep-present.ts');
  const view = await viewWorkspace(options);
  const found = detectProject(folderReader(options.workspace));
  const { detected, missing } = keepPresent(found, (program) => view.locate(program).state === 'inside');
  const profile = options.for;
  const toolchains = view.toolchains.filter(({ isShown }) => isShown);
  const text = renderRegistry(detected, { schemaRef: `./${SCHEMA_FILE}`, profile, toolchains, missing });
  if (options.dryRun === true) process.stdout.write(text);
  else await writeFiles(options.workspace, text);
  if (options.json === true) printJson({ detected, written: options.dryRun !== true }, { compact: true });
  else if (options.dryRun !== true) describe(detected, { profile, missing });
  return 0;
}

/** Exclusive, so that two at once cannot overwrite each other either. */
async function writeFiles(workspace: string, text: string): Promise<void> {
  writeFileSync(join(workspace, FILE), text, { flag: 'wx' });
  if (existsSync(join(workspace, SCHEMA_FILE))) return;
  const [{ describeRules }, { builtInTools, registryJsonSchema }, { createAst }] = await Promise.all([
    import('@tool-runtime/sdk'),
    import('@tool-runtime/sdk/parts'),
    import('@tool-runtime/ast'),
  ]);
  const ast = createAst();
  const schema = registryJsonSchema({
    tools: [...builtInTools(), ...ast.tools].map(({ name }) => name),
    rules: describeRules(ast.rules).map(({ id }) => id),
  });
  writeFileSync(join(workspace, SCHEMA_FILE), `${JSON.stringify(schema, null, 2)}\n`, { flag: 'wx' });
}

/** What commands would find, with every toolchain of this machine. */
async function viewWorkspace({ workspace, state }: InitOptions): Promise<SandboxView> {
  const { defaultRegistry, defaultStateFolder, viewSandbox } = await import('@tool-runtime/sdk/parts');
  const root = realpathSync.native(workspace);
  return viewSandbox({
    registry: defaultRegistry(),
    workspace: root,
    state: state ?? defaultStateFolder(root, process.env),
  });
}

interface Described {
  readonly profile: Profile;
  readonly missing: MissingSteps;
}

function describe(detected: DetectedProject, { profile, missing }: Described): void {
  const { languages, packageManager, git } = detected;
  const found = [...languages, ...(packageManager === undefined ? [] : [packageManager])];
  printLine(
    `wrote ${FILE} and ${SCHEMA_FILE} (for editors), for ${profile === 'agent' ? 'an agent' : profile === 'ci' ? 'a CI job' : 'a reader'}`,
  );
  printLine(`found ${found.length === 0 ? 'no known project' : found.join(', ')}`);
  for (const { command, program } of profile === 'reader' ? [] : Object.values(missing)) {
    showWarning(`left out: ${command} (${program} was not found inside the sandbox)`);
  }
  if (git === undefined) showWarning('not a git repository: commit rules have nothing to check');
  printLine('it allows:');
  for (const [subject, text] of summary(detected, profile)) printLine(`  ${subject.padEnd(9)} ${text}`);
  printLine('read it, then: tool-runtime trust');
}

/** Five lines, whatever the project. */
function summary({ commands, shellAllow }: DetectedProject, profile: Profile): readonly (readonly [string, string])[] {
  const steps = Object.keys(commands).filter((step) => step !== 'test');
  const isReader = profile === 'reader';
  const patterns =
    shellAllow.length === 0 ? 'none' : `${shellAllow.length} patterns in shell_allow, run without a shell`;
  return [
    [
      'files',
      isReader ? 'read inside the workspace' : 'read and write inside the workspace, but not .git and the registry',
    ],
    ['commands', isReader ? 'none' : profile === 'agent' ? 'any command line, by bash inside the sandbox' : patterns],
    ['network', 'none; list hosts in network.allowed_domains'],
    ['git', isReader ? 'history and differences' : 'everything local; no push (git.allow_push)'],
    ['commits', isReader ? 'none' : `checked for: ${['secrets', ...steps].join(', ')}`],
  ];
}

function folderReader(workspace: string): ProjectReader {
  return {
    read(path) {
      const file = join(workspace, path);
      try {
        const stat = statSync(file);
        return stat.isFile() && stat.size <= LARGEST ? readFileSync(file, 'utf8') : undefined;
      } catch {
        // Not there or not ours to read: then it tells nothing about the project.
        return undefined;
      }
    },
    exists: (path) => existsSync(join(workspace, path)),
    list(path) {
      try {
        return readdirSync(join(workspace, path));
      } catch {
        return [];
      }
    },
  };
}
