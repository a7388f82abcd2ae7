/** What clients usually say of themselves. Unusual things may be right too: the SDK decides about those. */
import type { ClientIdentity } from '../mcp-backend.ts';
import { hasOnly, isPlainObject, type PlainObject } from './plain-message.ts';

const INFO_KEYS: ReadonlySet<string> = new Set(['name', 'version', 'title', 'description', 'websiteUrl']);

export function readClientInfo(info: unknown): ClientIdentity | undefined {
  if (!isPlainObject(info) || !hasOnly(info, INFO_KEYS)) return undefined;
  const { name, version } = info;
  if (typeof name !== 'string' || typeof version !== 'string') return undefined;
  for (const key in info) if (typeof info[key] !== 'string') return undefined;
  return { name, version };
}

/** Ability → whether what is said of it has the usual form. */
const ABILITIES: Readonly<Record<string, (value: PlainObject) => boolean>> = {
  roots: (value) => hasOnly(value, new Set(['listChanged'])) && isOptionalBoolean(value['listChanged']),
  sampling: (value) => hasOnly(value, new Set(['context', 'tools'])) && Object.values(value).every(isEmpty),
  elicitation: (value) => hasOnly(value, new Set(['form', 'url'])) && Object.values(value).every(isEmpty),
  experimental: (value) => Object.values(value).every(isEmpty),
};

export function arePlainAbilities(abilities: unknown): boolean {
  if (!isPlainObject(abilities)) return false;
  for (const name in abilities) {
    const value = abilities[name];
    if (!Object.hasOwn(ABILITIES, name) || !isPlainObject(value) || ABILITIES[name]?.(value) !== true) return false;
  }
  return true;
}

function isEmpty(value: unknown): boolean {
  return isPlainObject(value) && Object.keys(value).length === 0;
}

function isOptionalBoolean(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean';
}
