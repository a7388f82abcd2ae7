/** Arguments as people type them, key=value and --key value: which words belong together, and which are text or JSON. */

export const PAIR = /^(?:--)?([A-Za-z_][\w.-]*)=(.*)$/s;
export const FLAG = /^--([A-Za-z_][\w-]*)$/;

/** `--key value` takes the next word, unless the tool's schema says that it is a switch. */
export function typeWords(
  words: readonly string[],
  schema: object | undefined,
): { readonly args: object } | { readonly problem: string } {
  const args = new Map<string, unknown>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const [, flag] = FLAG.exec(word) ?? [];
    const [, written = '', text = ''] = PAIR.exec(word) ?? [];
    const key = argumentName(flag ?? written, schema);
    const types = acceptedTypes(schema, key);
    if (args.has(key)) return { problem: `Argument is given twice: ${key}` };
    if (flag === undefined) args.set(key, parseValue(text, types));
    else if (isSwitch(types, words[at + 1])) args.set(key, true);
    else if (at + 1 === words.length) return { problem: `Argument has no value: ${word}` };
    else args.set(key, parseValue(words[++at] ?? '', types));
  }
  return { args: Object.fromEntries(args) };
}

/** `--max-bytes` is max_bytes, where the tool has no argument with a dash. */
function argumentName(written: string, schema: object | undefined): string {
  return acceptedTypes(schema, written).size > 0 ? written : written.replaceAll('-', '_');
}

function isSwitch(types: ReadonlySet<string>, next: string | undefined): boolean {
  const isBoolean = types.has('boolean') && types.size === 1;
  return isBoolean && next !== 'true' && next !== 'false';
}

/** Text stays text where the tool takes text; elsewhere what reads as JSON is JSON. */
function parseValue(text: string, types: ReadonlySet<string>): unknown {
  const isTextOnly = types.has('string') && [...types].every((type) => type === 'string' || type === 'null');
  if (isTextOnly) return text === 'null' && types.has('null') ? null : text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

interface Property {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Property[];
  readonly oneOf?: readonly Property[];
}

/** Empty when the schema does not know the argument or does not say. */
export function acceptedTypes(schema: object | undefined, key: string): ReadonlySet<string> {
  const properties = (schema as { properties?: Record<string, Property> } | undefined)?.properties;
  const property = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
  return new Set(property === undefined ? [] : typesOf(property));
}

function typesOf(property: Property): readonly string[] {
  const branches = property.anyOf ?? property.oneOf;
  if (branches !== undefined) return branches.flatMap(typesOf);
  if (property.type !== undefined) return [property.type].flat();
  if (property.enum !== undefined) return property.enum.map(typeOf);
  return 'const' in property ? [typeOf(property.const)] : [];
}

function typeOf(value: unknown): string {
  return value === null ? 'null' : typeof value;
}
