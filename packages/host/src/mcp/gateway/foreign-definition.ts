/**
 * What a foreign server says about one tool, reduced to what an operator approves, and bounded before anything else
 * looks at it. The digest covers every word a model or a person will read.
 */
import type { Tool } from '@modelcontextprotocol/client';
import type { JsonObject, JsonValue } from '@tool-runtime/protocol';
import { canonicalJson, digest } from '@tool-runtime/sdk/parts';
import { isTooDeep, schemaProblem } from './schema-bounds.ts';

export interface ForeignDefinition {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema?: JsonObject;
  readonly annotations?: JsonObject;
}

export interface ReadDefinition {
  readonly name: string;
  readonly digest: string;
  readonly definition: ForeignDefinition;
}

export interface RefusedDefinition {
  readonly name: string;
  readonly problem: string;
}

const MAX_NAME = 128;
const MAX_DEFINITION_BYTES = 160 * 1024;
const MAX_DEPTH = 40;
/** Tags and direction marks: text that a model reads and a person does not see. */
const INVISIBLE = /[\u{E0000}-\u{E007F}\u202A-\u202E\u2066-\u2069]/u;

/** Out of bounds, a definition is named and never kept: nothing of it reaches a model or a validator. */
export function readDefinition(tool: Tool): ReadDefinition | RefusedDefinition {
  const name = tool.name.length > MAX_NAME ? `${tool.name.slice(0, MAX_NAME)}…` : tool.name;
  const definition = reduce(tool);
  const problem = problemOf(definition);
  if (problem !== undefined) return { name, problem };
  return { name, definition, digest: digest(canonicalJson(definition as unknown as JsonValue)) };
}

function reduce({ name, title, description, inputSchema, outputSchema, annotations }: Tool): ForeignDefinition {
  return {
    name,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    inputSchema: inputSchema as JsonObject,
    ...(outputSchema === undefined ? {} : { outputSchema: outputSchema as JsonObject }),
    ...(annotations === undefined ? {} : { annotations: annotations as JsonObject }),
  };
}

function problemOf(definition: ForeignDefinition): string | undefined {
  if (definition.name === '' || definition.name.length > MAX_NAME) return `name is not 1 to ${MAX_NAME} characters`;
  if (isTooDeep(definition as unknown as JsonValue, MAX_DEPTH)) return `definition is nested deeper than ${MAX_DEPTH}`;
  const text = JSON.stringify(definition);
  if (Buffer.byteLength(text) > MAX_DEFINITION_BYTES) return `definition is larger than ${MAX_DEFINITION_BYTES} bytes`;
  if (!text.isWellFormed() || /\\ud[89a-f]/i.test(text)) return 'definition holds half a character';
  if (INVISIBLE.test(text)) return 'definition holds invisible characters';
  const input = schemaProblem(definition.inputSchema);
  if (input !== undefined) return `input schema ${input}`;
  const output = definition.outputSchema === undefined ? undefined : schemaProblem(definition.outputSchema);
  return output === undefined ? undefined : `output schema ${output}`;
}
