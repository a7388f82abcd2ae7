/**
 * The types of calls by tool name. `session.call('file_read', { path })` checks the arguments and types the data.
 *
 * A program adds its own tools by declaration merging:
 *
 *     declare module '@tool-runtime/sdk' {
 *       interface ToolTypes {
 *         word_count: typeof wordCount;
 *       }
 *     }
 */
import type { ToolResponse } from '@tool-runtime/protocol';
import type { z } from 'zod';

// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging
export interface ToolTypes {}

/** What the schema takes; lists may be read-only. Anything for a name that is not known when the program is compiled. */
export type ToolArgs<Name extends string> = Name extends keyof ToolTypes
  ? Given<z.input<SchemaOf<Name, 'args'>>>
  : unknown;

export type ToolData<Name extends string> = Name extends keyof ToolTypes
  ? Sent<z.output<SchemaOf<Name, 'data'>>>
  : ToolResponse['data'];

/** `data` is there when the call succeeded. */
export type ToolAnswer<Name extends string> = Name extends keyof ToolTypes
  ?
      | (Omit<ToolResponse, 'ok' | 'data'> & { readonly ok: true; readonly data: ToolData<Name> })
      | (Omit<ToolResponse, 'ok'> & { readonly ok: false })
  : ToolResponse;

type Given<Value> = Value extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Given<Value[Key]> }
    : Value;

/** JSON has no undefined: a field is there or it is not. */
type Sent<Value> = Value extends readonly (infer Item)[]
  ? readonly Sent<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Sent<Exclude<Value[Key], undefined>> }
    : Value;

type SchemaOf<Name extends keyof ToolTypes, Part extends 'args' | 'data'> =
  ToolTypes[Name] extends Readonly<Record<Part, infer Schema extends z.ZodType>> ? Schema : z.ZodUnknown;
