/**
 * Which of the tools a session may use are put before a model. A list costs its tokens in every request, so the usual
 * profile is small and the rest is found by `tool_search` and called by `tool_call`.
 *
 * A profile is a matter of budget and loosens nothing. `read-only` and a list from the command line are meant as limits
 * too: they come with a ceiling, to be given to the session.
 */
import { ToolError } from '@tool-runtime/protocol';
import type { CapabilityPolicy, ToolListing } from '@tool-runtime/sdk';
import { CHILD_TOOL_NAMES } from './child-tool-names.ts';
import { isReadOnlyTool } from './mcp-definition.ts';
import { compileNames } from './name-patterns.ts';

export const DEFAULT_PROFILE = 'core';

/** What a coding agent does all day. A test holds their definitions below 4,000 tokens. */
const CORE_TOOLS: readonly string[] = [
  'ast_query',
  'file_edit',
  'file_read',
  'file_write',
  'fs_list',
  'git_add',
  'git_commit',
  'git_diff',
  'git_status',
  'grep',
  'shell_exec',
  'validate',
];

export interface ToolProfile {
  readonly name: string;
  /** Names, `*` and `?` allowed; undefined where it is not a list that decides. */
  readonly tools: readonly string[] | undefined;
  shows(listing: ToolListing): boolean;
  /** Whether the tools for child sessions are offered: where everything is, and where the list names them. */
  offers(name: string): boolean;
  /** Whether definitions say what the answer looks like: that doubles the price, and few clients show it to a model. */
  readonly output: boolean;
  /**
   * `model`: contents are text alone, facts are text and structure. Half of the clients show a model only the structure
   * where there is one, the other half only the text. `structured`: everything is both, for programs.
   */
  readonly form: 'model' | 'structured';
  /** For `openSession({ capabilities })`; undefined: the profile only chooses what is listed. */
  readonly ceiling: CapabilityPolicy | undefined;
}

export interface ProfileChoice {
  readonly profile?: string | undefined;
  /** Names, `*` and `?` allowed, instead of a profile: these and no others. */
  readonly tools?: readonly string[] | undefined;
  /** The operator's own profiles: name → tool names. */
  readonly lists?: Readonly<Record<string, readonly string[]>> | undefined;
}

export interface Selection {
  readonly shown: readonly ToolListing[];
  /** Allowed, not listed. */
  readonly rest: readonly ToolListing[];
  /** Entries of the profile that fit no tool of this session. */
  readonly unmatched: readonly string[];
}

const BUILT_IN: Readonly<Record<string, () => ToolProfile>> = {
  core: () => listProfile('core', CORE_TOOLS, { output: false }),
  'read-only': () => ({
    name: 'read-only',
    tools: undefined,
    shows: isReadOnlyTool,
    offers: () => false,
    output: false,
    form: 'model',
    ceiling: { side_effect_level: 'read_only' },
  }),
  full: () => everything('full', 'model'),
  structured: () => everything('structured', 'structured'),
};

export const PROFILE_NAMES: readonly string[] = Object.keys(BUILT_IN);

/** Throws E_VALIDATION_FAIL for an unknown profile, a list that is empty, and a profile beside a list. */
export function resolveProfile({ profile, tools, lists = {} }: ProfileChoice): ToolProfile {
  if (tools !== undefined) {
    if (profile !== undefined)
      throw badChoice('A profile and a list of tools cannot be used together', 'name one of them');
    if (tools.length === 0) throw badChoice('The list of tools is empty', 'name at least one tool');
    const ceiling = { tools: tools.filter((pattern) => !isForChildren(pattern)) };
    return { ...listProfile('tools', tools, { output: true }), ceiling };
  }
  const name = profile ?? DEFAULT_PROFILE;
  const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  if (builtIn !== undefined) return builtIn();
  const own = Object.hasOwn(lists, name) ? lists[name] : undefined;
  if (own !== undefined) return listProfile(name, own, { output: true });
  const known = [...PROFILE_NAMES, ...Object.keys(lists)].join(', ');
  throw badChoice(`No such tool profile: ${name}`, `name one of ${known}`);
}

/** Whether answers of this tool carry structure in this profile. */
export function isStructured(
  { hasLargeAnswers }: Pick<ToolListing, 'hasLargeAnswers'>,
  { form }: ToolProfile,
): boolean {
  return form === 'structured' || !hasLargeAnswers;
}

/** Sorted by name on both sides. */
export function selectTools(listings: readonly ToolListing[], profile: ToolProfile): Selection {
  const sorted = [...listings].sort((left, right) => (left.name < right.name ? -1 : 1));
  const shown = sorted.filter((listing) => profile.shows(listing));
  const unmatched = (profile.tools ?? []).filter((pattern) => {
    const fits = compileNames([pattern]);
    return !shown.some(({ name }) => fits(name)) && !isForChildren(pattern);
  });
  return { shown, rest: sorted.filter((listing) => !profile.shows(listing)), unmatched };
}

/** Names of ours, which no registry knows: in a ceiling they would ask for more than it gives. */
function isForChildren(pattern: string): boolean {
  return pattern.startsWith('child_') && [...CHILD_TOOL_NAMES].some(compileNames([pattern]));
}

function listProfile(name: string, tools: readonly string[], { output }: { readonly output: boolean }): ToolProfile {
  const fits = compileNames(tools);
  return {
    name,
    tools,
    shows: (listing) => fits(listing.name),
    offers: fits,
    output,
    form: 'model',
    ceiling: undefined,
  };
}

function everything(name: string, form: ToolProfile['form']): ToolProfile {
  return { name, tools: undefined, shows: () => true, offers: () => true, output: true, form, ceiling: undefined };
}

function badChoice(message: string, next: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', message, { details: { next } });
}
