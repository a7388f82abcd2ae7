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
  return tools
    .map(shapeOf)
    .flatMap((shape) => [
      ...withValue(shape, undefined, 'a', () => ({ kind: 'tool', subject: shape.name })),
      ...unique(paths.filter(({ tools: named }) => named(shape.name)).flatMap(({ samples }) => samples)).flatMap(
        (path) => withValue(shape, 'path_params', path, () => ({ kind: 'path', subject: `${shape.name} ${path}` })),
      ),
      ...[...commands].flatMap((command) =>
        withValue(shape, 'command_params', command, () => ({ kind: 'program', subject: `${shape.name} ${command}` })),
      ),
      ...[...hosts].flatMap((host) =>
        withValue(shape, 'url_params', `https://${host}/`, () => ({ kind: 'host', subject: `${shape.name} ${host}` })),
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
  shape: Shape,
  kind: ParamKind | undefined,
  value: string,
  about: () => Pick<Probe, 'kind' | 'subject'>,
): readonly Probe[] {
  const keys = kind === undefined ? [undefined] : shape.arg[kind].slice(0, 1);
  return keys.map((key) => ({ ...about(), call: { tool: shape.name, args: madeUp(shape, key, value) } }));
}

/** What arguments of a tool are made from: writing its schema takes longer than judging a call. */
interface Shape {
  readonly name: string;
  readonly arg: ToolArgSchema;
  readonly properties?: JsonObject | undefined;
  readonly required?: readonly string[] | undefined;
}

function shapeOf(tool: AnyTool): Shape {
  const { properties, required } = argsSchema(tool) as Pick<Shape, 'properties' | 'required'>;
  return { name: tool.name, arg: completeAnnotations(tool.annotations).arg_schema, properties, required };
}

function madeUp({ arg, properties, required }: Shape, key: string | undefined, value: string): JsonObject {
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
