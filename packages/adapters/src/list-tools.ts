/** The tools of a session as every provider and framework wants them: name, words, JSON Schemas, hints. */
import { isReadOnlyKind, mutationClass, type Session, type ToolKind, type ToolListing } from '@tool-runtime/sdk';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ToolHints {
  readonly title: string;
  readonly kind: ToolKind;
  readonly sideEffectLevel: string;
  /** Changes nothing, inside or outside of the workspace. */
  readonly readOnly: boolean;
  /** May remove what was there, or have unforeseeable effects. */
  readonly destructive: boolean;
  readonly idempotent: boolean;
  /** May talk to the network. */
  readonly openWorld: boolean;
}

export interface ToolDescription {
  readonly name: string;
  readonly description: string;
  /** JSON Schema 2020-12 of the arguments. */
  readonly inputSchema: JsonSchema;
  /** JSON Schema 2020-12 of the data of a call that worked. */
  readonly outputSchema: JsonSchema;
  readonly annotations: ToolHints;
}

export interface ToolSelection {
  /** `full` (default): all the session may use; `read-only`: those of them that change nothing. */
  readonly profile?: 'full' | 'read-only';
  /** Only these, in this order. A name the session does not offer is a TypeError that says why it does not. */
  readonly names?: readonly string[];
}

export function listTools(session: Session, { profile = 'full', names }: ToolSelection = {}): ToolDescription[] {
  const offered = session.tools().map(describeTool);
  const chosen = names === undefined ? offered : names.map((name) => pick(name, offered, session));
  return profile === 'full' ? chosen : chosen.filter((tool) => tool.annotations.readOnly);
}

function pick(name: string, offered: readonly ToolDescription[], session: Session): ToolDescription {
  const found = offered.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const hidden = session.hidden().find((tool) => tool.name === name);
  throw new TypeError(`Session does not offer the tool: ${name} (${hidden?.reason ?? 'no tool of this name'})`);
}

function describeTool(listing: ToolListing): ToolDescription {
  return {
    name: listing.name,
    description: listing.policyNotes === undefined ? listing.summary : `${listing.summary}. ${listing.policyNotes}`,
    inputSchema: listing.argsSchema as JsonSchema,
    outputSchema: listing.dataSchema as JsonSchema,
    annotations: hintsOf(listing),
  };
}

function hintsOf({ title, kind, sideEffectLevel, idempotent }: ToolListing): ToolHints {
  const readOnly = isReadOnlyKind(kind) && (sideEffectLevel === 'none' || sideEffectLevel === 'read_only');
  const mutation = mutationClass(kind);
  return {
    title,
    kind,
    sideEffectLevel,
    readOnly,
    destructive: !readOnly && mutation !== 'workspace_write' && mutation !== 'read_only',
    idempotent,
    openWorld: sideEffectLevel === 'network',
  };
}
