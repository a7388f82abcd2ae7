/**
 * The definitions an operator approved, in the state folder: what a session offers comes from here and never straight
 * from a server, so opening a runtime starts no foreign process and a server cannot change its tools under way.
 *
 * Of each tool there is at most one approved definition and one that waits. A damaged file approves nothing.
 */
import { isJsonObject, type JsonValue } from '@tool-runtime/protocol';
import { canonicalJson, digest, openStateFolder } from '@tool-runtime/sdk/parts';
import type { ForeignDefinition } from './foreign-definition.ts';

const FILE = 'mcp-pins.json';

export interface Pin {
  readonly digest: string;
  readonly definition: ForeignDefinition;
}

export interface ToolPins {
  readonly approved?: Pin;
  /** Seen at the server and not approved: new, or different from what was. */
  readonly pending?: Pin;
  /** Why a definition was not even kept. */
  readonly refused?: string;
}

export interface ServerPins {
  /** Whether it speaks only the revisions of 2025, as found at the last refresh. */
  readonly family?: 'legacy' | 'modern';
  readonly tools: Readonly<Record<string, ToolPins>>;
}

export type Pins = Readonly<Record<string, ServerPins>>;

/** `state`: the state folder of the workspace. Nothing pinned where there is no file. */
export function listPins(state: string): Pins {
  const text = openStateFolder(state).readText(FILE);
  return text === undefined ? {} : parsePins(text);
}

export function updatePins(state: string, change: (pins: Pins) => Pins): void {
  const folder = openStateFolder(state);
  const pins = change(parsePins(folder.readText(FILE) ?? '{}'));
  folder.writeText(FILE, `${JSON.stringify({ version: 1, servers: pins }, null, 2)}\n`);
}

/** Foreign names are looked up as they are: `constructor` is a hit only when it was written there. */
export function ownEntry<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Approves what waits: all of a server, or the tools named. Answers the names that were approved. */
export function approvePins(state: string, server: string, tools?: readonly string[]): readonly string[] {
  const approved: string[] = [];
  updatePins(state, (pins) => {
    const found = ownEntry(pins, server);
    if (found === undefined) return pins;
    const entries = Object.entries(found.tools).map(([name, pin]): [string, ToolPins] => {
      if (pin.pending === undefined || (tools !== undefined && !tools.includes(name))) return [name, pin];
      approved.push(name);
      return [name, { approved: pin.pending }];
    });
    return { ...pins, [server]: { ...found, tools: Object.fromEntries(entries) } };
  });
  return approved;
}

/** Forgets a server, or the tools named: they are new when they are seen again. Answers whether anything was there. */
export function removePins(state: string, server: string, tools?: readonly string[]): boolean {
  let removed = false;
  updatePins(state, (pins) => {
    const found = ownEntry(pins, server);
    if (found === undefined) return pins;
    const { [server]: _, ...others } = pins;
    const kept = tools === undefined ? [] : Object.entries(found.tools).filter(([name]) => !tools.includes(name));
    removed = tools === undefined || kept.length < Object.keys(found.tools).length;
    return tools === undefined ? others : { ...pins, [server]: { ...found, tools: Object.fromEntries(kept) } };
  });
  return removed;
}

function parsePins(text: string): Pins {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {};
  }
  const servers = isJsonObject(value) ? value['servers'] : undefined;
  if (!isJsonObject(servers)) return {};
  return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, readServer(server)]));
}

function readServer(value: JsonValue): ServerPins {
  const { family, tools } = isJsonObject(value) ? value : {};
  const entries = isJsonObject(tools) ? Object.entries(tools) : [];
  return {
    ...(family === 'legacy' || family === 'modern' ? { family } : {}),
    tools: Object.fromEntries(entries.map(([name, pin]) => [name, readTool(pin)])),
  };
}

function readTool(value: JsonValue): ToolPins {
  const { approved, pending, refused } = isJsonObject(value) ? value : {};
  const [first, second] = [readPin(approved), readPin(pending)];
  return {
    ...(first === undefined ? {} : { approved: first }),
    ...(second === undefined ? {} : { pending: second }),
    ...(typeof refused === 'string' ? { refused } : {}),
  };
}

/** A definition that is not the one its digest names counts as none. */
function readPin(value: JsonValue | undefined): Pin | undefined {
  if (!isJsonObject(value)) return undefined;
  const { digest: named, definition } = value;
  if (typeof named !== 'string' || !isJsonObject(definition) || !isJsonObject(definition['inputSchema']))
    return undefined;
  if (digest(canonicalJson(definition)) !== named) return undefined;
  return { digest: named, definition: definition as unknown as ForeignDefinition };
}
