/** A tool without some of its optional arguments, by the embedder's choice: the model never learns of them. */
import type { ToolDescription } from './list-tools.ts';
import { propertiesOf, requiredOf } from './schema-shape.ts';

export function omitProperties(tool: ToolDescription, omitted: readonly string[]): ToolDescription {
  if (omitted.length === 0) return tool;
  const properties = propertiesOf(tool.inputSchema);
  const required = requiredOf(tool.inputSchema);
  for (const name of omitted) {
    if (!Object.hasOwn(properties, name)) throw new TypeError(`No such argument to omit: ${tool.name}.${name}`);
    if (required.has(name)) throw new TypeError(`Required argument cannot be omitted: ${tool.name}.${name}`);
  }
  const kept = Object.entries(properties).filter(([name]) => !omitted.includes(name));
  return { ...tool, inputSchema: { ...tool.inputSchema, properties: Object.fromEntries(kept) } };
}
