/**
 * Edits of a registry as data: applied to its document in memory, and shown to people.
 *
 * A document is the plain value of the text. JSON is YAML, so an edited document is loaded like any other text.
 */
import { isJsonObject, type JsonObject, type JsonValue, type RegistryEdit } from '@tool-runtime/protocol';
import type { Registry, RegistryText } from '../contracts/registry.ts';
import type { KnownNames } from '../registry/check-names.ts';
import { loadRegistry } from '../registry/load-registry.ts';
import { parseYaml } from '../registry/parse-yaml.ts';

/** Throws as loading does when the text is not YAML. No text stands for an empty registry. */
export function documentOf(source: RegistryText | undefined): JsonObject {
  if (source === undefined) return { version: 1 };
  const { value } = parseYaml(source.text);
  return isJsonObject(value) ? value : { version: 1 };
}

export function loadDocument(document: JsonObject, file: string, known: KnownNames): Registry {
  return loadRegistry(JSON.stringify(document), { ...known, file });
}

/** The document after the edits. The given one stays as it is. */
export function applyEdits(document: JsonObject, edits: readonly RegistryEdit[]): JsonObject {
  return edits.reduce((changed, edit) => applyAt(changed, edit.path.split('.'), edit) as JsonObject, document);
}

function applyAt(at: JsonValue | undefined, [step, ...rest]: readonly string[], edit: RegistryEdit): JsonValue {
  if (step === undefined) return leafAfter(at, edit);
  if (Array.isArray(at)) {
    return at.map((item: JsonValue, index) => (String(index) === step ? applyAt(item, rest, edit) : item));
  }
  const { [step]: inner, ...others } = isJsonObject(at) ? at : {};
  if (edit.op === 'unset' && rest.length === 0) return others;
  return { ...(isJsonObject(at) ? at : {}), [step]: applyAt(inner, rest, edit) };
}

function leafAfter(at: JsonValue | undefined, { op, value = null }: RegistryEdit): JsonValue {
  if (op === 'set') return value;
  const list: readonly JsonValue[] = Array.isArray(at) ? at : [];
  if (op === 'add') return [...list, value];
  const found = list.findIndex((item) => JSON.stringify(item) === JSON.stringify(value));
  return list.filter((_, index) => index !== found);
}

/** The edits with the lines of what they change. */
export function placeEdits(edits: readonly RegistryEdit[], { spot }: Registry): readonly RegistryEdit[] {
  return edits.map((edit) => {
    const place = spot(edit.path);
    return place === undefined ? edit : { ...edit, registry: `${place.file}:${place.line}` };
  });
}

export function describeEdits(edits: readonly RegistryEdit[]): string {
  return edits.map(describeEdit).join('; ');
}

function describeEdit({ op, path, value = null, registry }: RegistryEdit): string {
  const where = registry === undefined ? '' : ` (${registry})`;
  const shown = JSON.stringify(value);
  if (op === 'add') return `add ${shown} to ${path}${where}`;
  if (op === 'remove') return `remove ${shown} from ${path}${where}`;
  return op === 'set' ? `set ${path}: ${shown}${where}` : `remove ${path}${where}`;
}
