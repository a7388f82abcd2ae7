/** One kind of resource an MCP server offers. */
import type { ListResourcesResult, ReadResourceResult, ServerContext } from '@modelcontextprotocol/server';
import type { ServedSession } from '../../sessions/served-session.ts';

export type ResourceEntry = ListResourcesResult['resources'][number];

export interface ResourceTemplateEntry {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

export interface ResourceReader {
  /** The session of the client, if it has one yet. */
  readonly session: ServedSession | undefined;
  openSession(): Promise<ServedSession>;
  readonly ctx: ServerContext;
}

export interface ResourceSource {
  list?(reader: ResourceReader): Promise<readonly ResourceEntry[]> | readonly ResourceEntry[];
  readonly template?: ResourceTemplateEntry;
  /** Undefined when the address is not one of its own. */
  read(uri: string, reader: ResourceReader): Promise<ReadResourceResult> | undefined;
  /** Values for a variable of the template. */
  complete?(variable: string, value: string, reader: ResourceReader): readonly string[];
}
