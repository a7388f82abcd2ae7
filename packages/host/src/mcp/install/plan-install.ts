/** What an installation would change: the file as it is and as it would be. Nothing is written here. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { McpClient } from './client.ts';
import { type ConfigFile, type ConfigPlace, readConfigFile } from './config-file.ts';
import { setJsonMember } from './edit-json.ts';
import { setTomlTable, type TomlEntry } from './edit-toml.ts';

export interface InstallPlan {
  readonly place: ConfigPlace;
  readonly file: ConfigFile;
  readonly text: string;
  readonly isChange: boolean;
}

export interface WantedEntry {
  readonly name: string;
  readonly entry: JsonObject;
}

export function planInstall(client: McpClient, place: ConfigPlace, wanted: WantedEntry): InstallPlan {
  const file = readConfigFile(place);
  const text = withEntry(client, file.text, wanted);
  return { place, file, text, isChange: text !== file.text };
}

/** The text of a file with this server in it; from an empty one, the entry by itself. */
export function withEntry({ format, section }: McpClient, text: string, { name, entry }: WantedEntry): string {
  const path = [section, name];
  // Entries of TOML clients are texts, switches and lists of texts: see clients/codex.ts.
  return format === 'toml' ? setTomlTable(text, path, entry as TomlEntry) : setJsonMember(text, path, entry);
}
