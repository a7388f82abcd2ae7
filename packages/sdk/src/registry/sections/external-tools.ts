/**
 * `external_tools`: tools that are programs of their own.
 *
 * An entry without a command names one of the host's, in registries that only narrow; it can hold nothing else.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import { z } from 'zod';
import { SIDE_EFFECT_LEVELS, sideEffectRank, TOOL_KINDS } from '../../contracts/annotations.ts';
import { EXTERNAL_PROFILES, type ExternalToolSettings } from '../../contracts/external.ts';
import { secretNameProblem } from '../../external/protocol/tool-environment.ts';
import { inputsSchemaProblem } from '../../external/run/inputs-schema.ts';
import { type Narrowing, placeEntry, sameJson } from '../narrowing.ts';
import { defineSection, highestLevel } from '../section.ts';
import { absolutePath, checkedText, milliseconds, plainWord, shapedText } from '../texts.ts';

const NAME = /^[a-z0-9][a-z0-9_.-]{0,63}$/;

const toolName = checkedText((text) =>
  NAME.test(text) && !text.includes('..')
    ? undefined
    : 'Not the name of a tool: up to 64 of a-z, 0-9, _, . and -, a letter or digit first, no ..',
);
const innerPath = shapedText(
  /^(?!\/)(?!(?:.*\/)?\.{0,2}(?:\/|$))[^\u0000-\u001f\u007f\\]{1,1024}$/,
  "Not a path below the program's folder: relative, without empty parts, . and ..",
);
const freeMap = z.record(z.string(), z.unknown());

const argsSchema = freeMap.superRefine((schema, context) => {
  const message = inputsSchemaProblem(schema as JsonObject);
  if (message !== undefined) context.addIssue({ code: 'custom', message });
});

const entry = z.strictObject({
  name: toolName.describe('Name callers use, and of the folder its runs lie in'),
  summary: z.string().max(1024).exactOptional().describe('What it does, for callers'),
  command: plainWord
    .exactOptional()
    .describe('The program that the lock pins: absolute, or relative to the folder of the lock file'),
  args: z.array(plainWord).max(256).default([]).describe("Arguments placed before the caller's own"),
  interpreter: z
    .array(plainWord)
    .max(32)
    .default([])
    .describe('Program that runs the command, with its options: a bare name or an absolute path; not pinned'),
  files: z
    .array(innerPath)
    .max(256)
    .default([])
    .describe("Files and folders it needs, relative to the program's folder; pinned and copied with it"),
  profile: z
    .enum(EXTERNAL_PROFILES)
    .default('neutral')
    .describe('Names of the variables it is given: TOOL_… or EPACK_…'),
  args_schema: argsSchema
    .exactOptional()
    .describe('JSON Schema of what callers may give under inputs; left out: no inputs'),
  kind: z.enum(TOOL_KINDS).default('execute').describe('What its calls count as'),
  side_effect_level: z.enum(SIDE_EFFECT_LEVELS).default('process_exec').describe('What its calls count as'),
  writable: z
    .boolean()
    .default(false)
    .describe('Whether it may change the workspace and not only its run folder; needs the level workspace_write'),
  network: z.boolean().default(false).describe('Whether it may reach the allowed domains; needs the level network'),
  secrets: z
    .array(checkedText(secretNameProblem))
    .max(64)
    .default([])
    .describe('Variables of the host handed on, by name'),
  timeout_ms: milliseconds.default(300_000).describe('Time limit of a run'),
  requires_pack: z.boolean().exactOptional().describe('Whether it needs a pack; what it says itself when left out'),
  config: freeMap.exactOptional().describe('Handed to it as a JSON file'),
  read_paths: z
    .array(absolutePath)
    .max(64)
    .default([])
    .describe('Absolute paths it may read in addition to the system folders and the workspace'),
  source: plainWord.exactOptional().describe('Where it was got from; must be what the lock says'),
  allow_unpinned: z
    .boolean()
    .default(false)
    .describe('Run it without an entry in the lock; on record every time, refused where CI is set'),
});

type WrittenEntry = z.output<typeof entry>;

/** Whether nothing is left of an entry but the name of a tool. */
function isBare(tool: WrittenEntry): boolean {
  return JSON.stringify({ ...tool, name: 'a' }) === JSON.stringify(entry.parse({ name: 'a' }));
}

const externalTool = entry.superRefine((tool, context) => {
  const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
  if (tool.command === undefined && !isBare(tool)) {
    refuse('command', `External tool has no command: ${tool.name} (only a name alone may leave it out)`);
  }
  if (tool.network && sideEffectRank(tool.side_effect_level) < sideEffectRank('network')) {
    refuse('network', `External tool may use the network only with side_effect_level: network: ${tool.name}`);
  }
  if (tool.writable && sideEffectRank(tool.side_effect_level) < sideEffectRank('workspace_write')) {
    refuse(
      'writable',
      `External tool may change the workspace only from side_effect_level: workspace_write on: ${tool.name}`,
    );
  }
  const [program] = tool.interpreter;
  if (program?.includes('/') === true && !program.startsWith('/')) {
    refuse('interpreter', `Interpreter is neither a bare name nor an absolute path: ${tool.name}`);
  }
});

export const externalTools = defineSection({
  keys: {
    external_tools: z
      .array(externalTool)
      .default([])
      .describe('Tools that are programs of their own, pinned in tool-runtime.lock and run by a fixed protocol'),
  },
  build: ({ external_tools: written }) => ({
    externalTools: written.map(settingsOf) as readonly ExternalToolSettings[],
  }),
  narrow: (narrowing) => ({ externalTools: narrowExternalTools(narrowing) }),
  lists: { external_tools: ({ external_tools: written }) => written.map(({ name }) => name) },
  needs: ({ external_tools: written }) => highestLevel(written.map(({ side_effect_level }) => side_effect_level)),
});

function settingsOf({ summary, command = '', ...tool }: WrittenEntry): ExternalToolSettings {
  return { ...tool, summary: summary ?? `Run ${tool.name}`, command } as ExternalToolSettings;
}

/** A session repeats the host's entry word for word, or names the tool alone; either keeps the host's. */
function narrowExternalTools(narrowing: Narrowing): readonly ExternalToolSettings[] {
  const { host, session } = narrowing;
  const known = new Map(host.externalTools.map((tool) => [tool.name, tool]));
  const kept: ExternalToolSettings[] = [];
  for (const [index, tool] of session.externalTools.entries()) {
    const path = `external_tools.${index}`;
    const { name } = tool;
    const given = known.get(name);
    if (given === undefined || !(isReference(tool) || sameJson(tool, given))) {
      narrowing.overreach.push({ path, message: `External tool is not one of the host's: ${name}` });
      continue;
    }
    placeEntry(narrowing, 'external_tools', { index: kept.length, name, spot: session.spot(path) });
    kept.push(given);
  }
  return kept;
}

/** An entry of a registry that only narrows, for one of the host's tools. */
function isReference({ command }: ExternalToolSettings): boolean {
  return command === '';
}
