/** tool-runtime init: looks at the project and writes a commented registry for it. Never overwrites one. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { badUsage } from '../../terminal/bad-usage.ts';
import { printJson, printLine, showWarning } from '../../terminal/terminal.ts';
import { checkWorkspace } from '../../terminal/workspace-folder.ts';
import { defineCommand, type SharedOptions, withSharedOptions } from '../command.ts';
import type { DetectedProject, ProjectReader } from '../detect/detected-project.ts';

interface InitOptions extends SharedOptions {
  readonly dryRun?: boolean;
}

const FILE = 'tool-runtime.yaml';
const SCHEMA_FILE = 'tool-runtime.schema.json';
const LARGEST = 1024 * 1024;

export const init = defineCommand({
  name: 'init',
  summary: 'Detect language, package manager and commands, and write a commented tool-runtime.yaml',
  configure(command, done) {
    withSharedOptions(command)
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
  const detected = detectProject(folderReader(options.workspace));
  const text = renderRegistry(detected, { schemaRef: `./${SCHEMA_FILE}` });
  if (options.dryRun === true) process.stdout.write(text);
  else await writeFiles(options.workspace, text);
  if (options.json === true) printJson({ detected, written: options.dryRun !== true }, { compact: true });
  else if (options.dryRun !== true) describe(detected);
  return 0;
}

/** Exclusive, so that two at once cannot overwrite each other either. */
async function writeFiles(workspace: string, text: string): Promise<void> {
  writeFileSync(join(workspace, FILE), text, { flag: 'wx' });
  if (existsSync(join(workspace, SCHEMA_FILE))) return;
  const { registryJsonSchema } = await import('@tool-runtime/sdk/parts');
  writeFileSync(join(workspace, SCHEMA_FILE), `${JSON.stringify(registryJsonSchema(), null, 2)}\n`, { flag: 'wx' });
}

function describe({ languages, packageManager, commands, git }: DetectedProject): void {
  printLine(`wrote ${FILE}`);
  const found = [...languages, ...(packageManager === undefined ? [] : [packageManager])];
  printLine(`found ${found.length === 0 ? 'no known project' : found.join(', ')}`);
  for (const [step, line] of Object.entries(commands)) printLine(`  ${step}: ${line}`);
  if (git === undefined) showWarning('not a git repository: commit rules have nothing to check');
  printLine('read it, then: tool-runtime trust');
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
