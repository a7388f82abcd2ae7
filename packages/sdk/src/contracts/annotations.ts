/**
 * What a tool says about itself. Shared code asks these declarations and never compares a tool's name,
 * so renaming a tool changes nothing.
 */

export const TOOL_KINDS = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'other'] as const;
export type ToolKind = (typeof TOOL_KINDS)[number];

/** Unknown strings read as `other`, which is never treated as read-only. */
export function parseToolKind(value: string): ToolKind {
  return (TOOL_KINDS as readonly string[]).includes(value) ? (value as ToolKind) : 'other';
}

export function isReadOnlyKind(kind: ToolKind): boolean {
  return kind === 'read' || kind === 'search' || kind === 'think' || kind === 'fetch';
}

export type MutationClass = 'read_only' | 'workspace_write' | 'destructive' | 'ambient_side_effect' | 'other';

const MUTATION_CLASSES: Readonly<Record<ToolKind, MutationClass>> = {
  read: 'read_only',
  search: 'read_only',
  think: 'read_only',
  fetch: 'read_only',
  edit: 'workspace_write',
  delete: 'destructive',
  move: 'destructive',
  execute: 'ambient_side_effect',
  other: 'other',
};

export function mutationClass(kind: ToolKind): MutationClass {
  return MUTATION_CLASSES[kind];
}

export const SIDE_EFFECT_LEVELS = ['none', 'read_only', 'workspace_write', 'process_exec', 'network'] as const;
export type SideEffectLevel = (typeof SIDE_EFFECT_LEVELS)[number];

/** Higher is more invasive. */
export function sideEffectRank(level: SideEffectLevel): number {
  return SIDE_EFFECT_LEVELS.indexOf(level);
}

/** Unknown strings parse to `none`; loaders refuse them before they get here. */
export function parseSideEffectLevel(value: string): SideEffectLevel {
  return (SIDE_EFFECT_LEVELS as readonly string[]).includes(value) ? (value as SideEffectLevel) : 'none';
}

export interface ToolArgSchema {
  /** Argument keys that hold workspace-relative paths (a string, or an array of strings). */
  readonly path_params: readonly string[];
  /**
   * Those of `path_params` that stand for a set of files: a glob, or a folder with everything in it; left out or empty,
   * everything. A path rule must then cover the whole set.
   */
  readonly set_params?: readonly string[];
  /** Argument keys that hold URLs the call will contact (a string, or an array of strings). */
  readonly url_params: readonly string[];
  /** Argument keys that hold commands the call will run (a line, or a list of words). */
  readonly command_params: readonly string[];
  /** Argument keys that hold environment variables for those commands. */
  readonly env_params: readonly string[];
  /** Argument keys that hold headers of a request, by name. */
  readonly header_params: readonly string[];
  /** Alias → canonical key. */
  readonly arg_aliases: Readonly<Record<string, string>>;
  /** Argument keys that hold lists of objects; aliases and path keys hold inside of them too. */
  readonly list_params?: readonly string[];
  /** Keys that must be present and not null. */
  readonly required: readonly string[];
}

export interface ToolAnnotations {
  readonly kind: ToolKind;
  readonly side_effect_level: SideEffectLevel;
  readonly arg_schema: ToolArgSchema;
  /** Capability → operations the tool asks for, such as `{ workspace: ['read_text'] }`. */
  readonly capabilities: Readonly<Record<string, readonly string[]>>;
  /** May answer with a handle instead of the whole output. */
  readonly emits_artifacts: boolean;
  readonly result_readers: readonly string[];
  /** Results are always complete inline, although the tool is execute-like. */
  readonly inline_result: boolean;
}

/** What authors write: everything has a default. */
export type ToolAnnotationsInput = Partial<Omit<ToolAnnotations, 'arg_schema'>> & {
  readonly arg_schema?: Partial<ToolArgSchema>;
};

export function completeAnnotations(input: ToolAnnotationsInput = {}): ToolAnnotations {
  return {
    kind: input.kind ?? 'other',
    side_effect_level: input.side_effect_level ?? 'none',
    arg_schema: {
      path_params: input.arg_schema?.path_params ?? [],
      ...(input.arg_schema?.set_params === undefined ? {} : { set_params: input.arg_schema.set_params }),
      url_params: input.arg_schema?.url_params ?? [],
      command_params: input.arg_schema?.command_params ?? [],
      env_params: input.arg_schema?.env_params ?? [],
      header_params: input.arg_schema?.header_params ?? [],
      arg_aliases: input.arg_schema?.arg_aliases ?? {},
      ...(input.arg_schema?.list_params === undefined ? {} : { list_params: input.arg_schema.list_params }),
      required: input.arg_schema?.required ?? [],
    },
    capabilities: input.capabilities ?? {},
    emits_artifacts: input.emits_artifacts ?? false,
    result_readers: input.result_readers ?? [],
    inline_result: input.inline_result ?? false,
  };
}
