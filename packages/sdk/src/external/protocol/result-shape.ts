/**
 * The fields of a result and their types, as data.
 *
 * A field that is missing or null counts as its zero value when the protocol always writes it, and as absent when it
 * is optional: so a reader in a language with zero values sees the same as this one.
 */
import type { JsonValue } from '@tool-runtime/protocol';

export interface FieldRule {
  readonly type: 'text' | 'integer' | 'boolean' | 'object' | 'list' | 'any';
  /** What a missing or null field becomes; left out for optional fields. */
  readonly zero?: JsonValue;
  /** Written even when it is empty, and missing when it is not there. */
  readonly always?: true;
  /** The fields of an object, or of every object in a list. */
  readonly fields?: Shape;
}

export type Shape = Readonly<Record<string, FieldRule>>;

const TEXT: FieldRule = { type: 'text', zero: '' };
const INTEGER: FieldRule = { type: 'integer', zero: 0 };
const OPTIONAL_TEXT: FieldRule = { type: 'text' };
const NULLABLE_TEXT: FieldRule = { type: 'text', zero: null };

const ENTRY: Shape = { code: TEXT, message: TEXT, path: OPTIONAL_TEXT, details: { type: 'any' } };

function optionalTexts(...names: readonly string[]): FieldRule {
  return { type: 'object', fields: Object.fromEntries(names.map((name) => [name, OPTIONAL_TEXT])) };
}

export const RESULT_SHAPE: Shape = {
  schema_version: INTEGER,
  wrapper: { type: 'object', zero: {}, fields: { name: TEXT, version: TEXT } },
  tool: { type: 'object', zero: {}, fields: { name: TEXT, version: TEXT, protocol_version: INTEGER } },
  run_id: TEXT,
  pack_path: OPTIONAL_TEXT,
  pack_digest: OPTIONAL_TEXT,
  started_at: TEXT,
  completed_at: TEXT,
  duration_ms: INTEGER,
  exit_code: INTEGER,
  tool_exit_code: { type: 'integer', zero: null },
  status: TEXT,
  inputs: { type: 'object', always: true, fields: {} },
  outputs: {
    type: 'list',
    always: true,
    fields: { path: TEXT, media_type: TEXT, digest: OPTIONAL_TEXT, bytes: { type: 'integer' } },
  },
  errors: { type: 'list', always: true, fields: ENTRY },
  warnings: { type: 'list', always: true, fields: ENTRY },
  sync: {
    type: 'object',
    fields: { ledger_id: NULLABLE_TEXT, synced_at: NULLABLE_TEXT, workspace: OPTIONAL_TEXT },
  },
  identity: optionalTexts('workspace', 'actor', 'actor_type', 'auth_mode'),
  run_context: {
    type: 'object',
    fields: {
      ci: { type: 'boolean' },
      ci_provider: OPTIONAL_TEXT,
      repo: OPTIONAL_TEXT,
      commit: OPTIONAL_TEXT,
      branch: OPTIONAL_TEXT,
      runner_os: OPTIONAL_TEXT,
      runner_arch: OPTIONAL_TEXT,
    },
  },
  run_digest: OPTIONAL_TEXT,
  signing: optionalTexts('issuer', 'subject', 'source_repository_uri', 'source_repository_ref'),
  resolved_from: optionalTexts('registry', 'descriptor'),
};

/** Fields that must be there and not blank, in the order they are asked for. */
export const REQUIRED_FIELDS = [
  'schema_version',
  'wrapper.name',
  'tool.name',
  'run_id',
  'started_at',
  'completed_at',
  'status',
  'inputs',
  'outputs',
  'errors',
  'warnings',
] as const;
