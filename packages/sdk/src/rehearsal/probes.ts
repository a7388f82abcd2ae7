/** Calls made up to try a registry: paths, commands and hosts that its patterns speak about, in arguments a tool takes. */
import { isJsonObject, type JsonObject, type JsonValue } from '@tool-runtime/protocol';
import { completeAnnotations, type ToolArgSchema } from '../contracts/annotations.ts';
import type { Registry } from '../contracts/registry.ts';
import type { AnyTool } from '../contracts/tool.ts';
import { expandBraces } from '../glob/glob-syntax.ts';
import { compileGlob } from '../glob/match-glob.ts';
import { argsSchema } from '../session/compile-tools.ts';
import type { RehearsedCall } from './rehearsed-call.ts';
import { sampleTexts } from './sample-texts.ts';

export interface Probe {
  readonly kind: 'tool' | 'path' | 'program' | 'host';
  readonly subject: string;
  readonly call: RehearsedCall;
}

type ParamKind = 'path_params' | 'command_params' | 'url_params';

/** What two registries speak about, tried on the tools of a runtime. */
export function probesFor(registries: readonly Registry[], tools: readonly AnyTool[]): readonly Probe[] {
  const paths = registries.flatMap(pathPatterns);
  const commands = new Set(registries.flatMap(commandSamples));
  const hosts = new Set(
    registries.flatMap(({ allowedDomains }) => allowedDomains.map((entry) => entry.replace('*', 'sub'))),
  );
  return tools.flatMap((tool) => [
    ...withValue(tool, undefined, 'a', () => ({ kind: 'tool', subject: tool.name })),
    ...unique(paths.filter(({ tools: named }) => named(tool.name)).flatMap(({ samples }) => samples)).flatMap((path) =>
      withValue(tool, 'path_params', path, () => ({ kind: 'path', subject: `${tool.name} ${path}` })),
    ),
    ...[...commands].flatMap((command) =>
      withValue(tool, 'command_params', command, () => ({ kind: 'program', subject: `${tool.name} ${command}` })),
    ),
    ...[...hosts].flatMap((host) =>
      withValue(tool, 'url_params', `https://${host}/`, () => ({ kind: 'host', subject: `${tool.name} ${host}` })),
    ),
  ]);
}

function unique(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}

interface PathSamples {
  readonly tools: (name: string) => boolean;
  readonly samples: readonly string[];
}

function pathPatterns({ ceiling, approvals }: Registry): readonly PathSamples[] {
  const constrained = (ceiling.tool_arg_constraints ?? []).map(({ tool, arg_patterns }) => ({
    tools: compileGlob(tool),
    samples: arg_patterns.flatMap(pathSamples),
  }));
  const writable = approvals?.write_path_allowlist ?? [];
  return [...constrained, { tools: () => true, samples: writable.flatMap(pathSamples) }];
}

/** Paths that a glob matches: one for each of its braces. */
function pathSamples(glob: string): readonly string[] {
  const members = expandBraces(glob, () => {
    throw new TypeError('Braces are checked when a registry is loaded');
  });
  return members.map((member) =>
    member
      .replaceAll('**/', '')
      .replaceAll(/\*+/g, 'any')
      .replaceAll('?', 'x')
      .replaceAll(/\[!?(.)[^\]]*\]/g, '$1')
      .replaceAll(/\\(.)/g, '$1'),
  );
}

/** With one more word too, which a pattern without an end lets through. */
function commandSamples({ shellAllow, shellDeny, shellAsk }: Registry): readonly string[] {
  return [...shellAllow, ...shellDeny, ...shellAsk].flatMap(({ source, test }) =>
    sampleTexts(source)
      .flatMap((text) => [text, `${text} any`])
      .filter(test),
  );
}

/** One call for each argument of this kind; none for a tool whose other arguments cannot be made up. */
function withValue(
  tool: AnyTool,
  kind: ParamKind | undefined,
  value: string,
  about: () => Pick<Probe, 'kind' | 'subject'>,
): readonly Probe[] {
  const schema = completeAnnotations(tool.annotations).arg_schema;
  const keys = kind === undefined ? [undefined] : schema[kind].slice(0, 1);
  return keys.map((key) => ({ ...about(), call: { tool: tool.name, args: madeUp(tool, schema, key, value) } }));
}

function madeUp(tool: AnyTool, arg: ToolArgSchema, key: string | undefined, value: string): JsonObject {
  const { properties, required } = argsSchema(tool) as {
    readonly properties?: JsonObject;
    readonly required?: string[];
  };
  const names = new Set([...(required ?? []), ...arg.required, ...(key === undefined ? [] : [key])]);
  return Object.fromEntries([...names].map((name) => [name, valueFor(properties?.[name], name === key ? value : 'a')]));
}

function valueFor(schema: JsonValue | undefined, text: string): JsonValue {
  if (!isJsonObject(schema)) return text;
  const choices = schema['anyOf'] ?? schema['oneOf'];
  if (Array.isArray(choices)) return valueFor(choices[0], text);
  if (schema['const'] !== undefined) return schema['const'];
  const { enum: known, minimum } = schema;
  if (Array.isArray(known)) return known[0] ?? null;
  switch (schema['type']) {
    case 'array':
      return [valueFor(schema['items'], text)];
    case 'integer':
    case 'number':
      return typeof minimum === 'number' && minimum > 0 ? minimum : 1;
    case 'boolean':
      return false;
    case 'object': {
      const { properties, required } = schema;
      const inner = Array.isArray(required) ? required.map(String) : [];
      return Object.fromEntries(
        inner.map((name) => [name, valueFor(isJsonObject(properties) ? properties[name] : undefined, text)]),
      );
    }
    default:
      return text;
  }
}
