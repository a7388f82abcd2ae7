/** A rule judges a call before it runs, a change after it happened, or a commit before it is made. */
import type { ErrorCode, JsonObject, JsonValue } from '@tool-runtime/protocol';
import type { AstIndex } from './ast.ts';
import type { Enforcement } from './classes.ts';
import type { Registry } from './registry.ts';
import type { CallProfile } from './tool.ts';
import type { FileChange, MaybePromise, Workspace } from './workspace.ts';

export type RulePhase = 'before' | 'after' | 'on-commit';

export interface Violation {
  readonly message: string;
  readonly path?: string;
  readonly line?: number;
  /** What would pass instead, in words. */
  readonly next?: string;
  /** Further facts for the error's details. */
  readonly details?: JsonObject;
  /** A proposed mend; returned and announced, never applied by itself. */
  readonly fix?: JsonObject;
}

/** What a rule sees. Arguments are final: aliases rewritten, hooks and approver edits applied. */
export interface RuleSubject {
  readonly tool: string;
  readonly args: Readonly<Record<string, JsonValue>>;
  /** Every declared path argument, arrays flattened. */
  readonly paths: readonly { readonly key: string; readonly value: string }[];
  /** Every declared URL argument, likewise. */
  readonly urls: readonly { readonly key: string; readonly value: string }[];
  /** Every declared command argument that is present: a line, or a list of words. */
  readonly commands: readonly { readonly key: string; readonly value: JsonValue }[];
  /** Every declared environment argument that is present. */
  readonly environments: readonly { readonly key: string; readonly value: JsonValue }[];
  readonly profile: CallProfile;
  /** Filled in the after phase. */
  readonly changes: readonly FileChange[];
}

export interface RuleContext {
  readonly registry: Registry;
  readonly workspace: Workspace;
  readonly signal: AbortSignal;
  readonly ast: AstIndex | undefined;
}

/** What the registry loader must know about a rule. */
export interface RuleFacts {
  readonly id: string;
  readonly defaultEnforcement: Enforcement;
  /** Blocking although no registry lists it, and never less. */
  readonly always?: boolean;
  /** Key of the registry's `commands` section the rule runs; a blocking rule without it fails closed. */
  readonly needsCommand?: string;
}

export interface RuleDefinition extends RuleFacts {
  readonly category: string;
  readonly description: string;
  readonly phase: RulePhase;
  /** When the rule fires, in the words of the catalogue. */
  readonly trigger: string;
  readonly needs?: readonly 'ast'[];
  /** What a blocking violation answers; E_VALIDATION_FAIL unless said. */
  readonly errorCode?: ErrorCode;
  /** Cheap test on the call's declarations; a rule that does not apply costs nothing more. */
  appliesTo(subject: RuleSubject): boolean;
  check(subject: RuleSubject, context: RuleContext): MaybePromise<readonly Violation[]>;
}

export function defineRule(rule: RuleDefinition): RuleDefinition {
  return Object.freeze(rule);
}
