/**
 * What a foreign tool counts as. The operator's entry decides; of the server's own hints only those are heard that make
 * things stricter.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import {
  compileGlobs,
  type McpServerSettings,
  type SideEffectLevel,
  sideEffectRank,
  type ToolKind,
} from '@tool-runtime/sdk';
import type { ForeignDefinition } from './foreign-definition.ts';

export interface ForeignProfile {
  readonly kind: ToolKind;
  readonly level: SideEffectLevel;
  readonly effect: 'read' | 'write' | 'process' | 'network';
  readonly risk: 'low' | 'medium' | 'high';
  readonly pathArgs: readonly string[];
  readonly urlArgs: readonly string[];
}

const KINDS: Readonly<Record<SideEffectLevel, ToolKind>> = {
  none: 'read',
  read_only: 'read',
  workspace_write: 'edit',
  process_exec: 'execute',
  network: 'other',
};
const EFFECTS: Readonly<Record<SideEffectLevel, ForeignProfile['effect']>> = {
  none: 'read',
  read_only: 'read',
  workspace_write: 'write',
  process_exec: 'process',
  network: 'network',
};
const PATH_FORMATS = new Set(['path', 'file', 'file-path', 'filepath', 'directory', 'directory-path']);
const URL_FORMATS = new Set(['uri', 'url', 'iri']);

export function foreignProfile(definition: ForeignDefinition, settings: McpServerSettings): ForeignProfile {
  const level = levelOf(definition, settings);
  const isDestructive = definition.annotations?.['destructiveHint'] === true;
  const isReader = sideEffectRank(level) <= sideEffectRank('read_only');
  return {
    kind: isDestructive ? 'delete' : KINDS[level],
    // The ceiling knows no tool without effects that is not pure thought.
    level: level === 'none' ? 'read_only' : level,
    effect: EFFECTS[level],
    risk: isDestructive || level === 'network' || level === 'process_exec' ? 'high' : isReader ? 'low' : 'medium',
    pathArgs: argumentsOf(definition, settings.path_args, PATH_FORMATS),
    urlArgs: argumentsOf(definition, settings.url_args, URL_FORMATS),
  };
}

/** An exact name wins, of several globs the most invasive. A tool that says it destroys does not merely read. */
function levelOf({ name, annotations }: ForeignDefinition, settings: McpServerSettings): SideEffectLevel {
  const matching = Object.entries(settings.levels).filter(([glob]) => compileGlobs([glob])(name));
  const level = Object.hasOwn(settings.levels, name)
    ? (settings.levels[name] ?? settings.side_effect_level)
    : (mostInvasive(matching.map(([, found]) => found)) ?? settings.side_effect_level);
  return annotations?.['destructiveHint'] === true ? (mostInvasive([level, 'workspace_write']) ?? level) : level;
}

function mostInvasive(levels: readonly SideEffectLevel[]): SideEffectLevel | undefined {
  return levels.toSorted((left, right) => sideEffectRank(right) - sideEffectRank(left))[0];
}

function argumentsOf(
  { name, inputSchema }: ForeignDefinition,
  listed: Readonly<Record<string, readonly string[]>>,
  formats: ReadonlySet<string>,
): readonly string[] {
  const written = Object.entries(listed).flatMap(([glob, keys]) => (compileGlobs([glob])(name) ? keys : []));
  const properties = (inputSchema['properties'] ?? {}) as JsonObject;
  const shaped = Object.entries(properties).flatMap(([key, schema]) => (hasFormat(schema, formats) ? [key] : []));
  return [...new Set([...written, ...shaped])];
}

/** Of the argument itself, or of the items of a list. */
function hasFormat(schema: unknown, formats: ReadonlySet<string>): boolean {
  const { format, items } = (typeof schema === 'object' && schema !== null ? schema : {}) as Record<string, unknown>;
  if (typeof format === 'string') return formats.has(format);
  return typeof items === 'object' && items !== null && !Array.isArray(items) && hasFormat(items, formats);
}
