/** Types by which a caller tells the client what each tool takes and gives. Erased at run time: the host validates. */
import type { ToolResponse } from '../envelopes/from-host/tool-response.ts';
import type { JsonObject, JsonValue } from '../primitives/errors.ts';

export interface ToolSignature {
  readonly args: object;
  readonly data: unknown;
}

/** An interface or type with one ToolSignature per tool name; the mapped form lets plain interfaces qualify. */
export type ToolMap<Tools> = { readonly [Name in keyof Tools]: ToolSignature };

/** Any tool, any JSON: the map of a client that was given none. */
export interface LooseTools {
  readonly [tool: string]: { readonly args: JsonObject; readonly data: JsonValue };
}

export type ToolResponseWith<Data> = Omit<ToolResponse, 'data'> & { readonly data: Data | null };
