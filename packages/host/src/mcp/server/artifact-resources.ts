/** Large outputs of calls by their handle. Reading one is a call like any other: judged, and on record. */
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import { isJsonObject, type JsonValue, ToolError } from '@tool-runtime/protocol';
import { describeError } from '@tool-runtime/protocol/internal';
import type { ResourceReader, ResourceSource } from './resource-source.ts';

const PREFIX = 'tool-runtime://artifact/';
const SCHEME = 'artifact:';
const HANDLE = /^artifact:[0-9a-f]{32}$/;
const READER = 'artifact_read';

export const artifactResources: ResourceSource = {
  template: {
    uriTemplate: `${PREFIX}{id}`,
    name: 'artifact',
    title: 'Large output of a call',
    description: 'Named by the handles that answers carry, without their artifact: in front',
    mimeType: 'text/plain',
  },
  read(uri, reader) {
    const id = uri.startsWith(PREFIX) ? uri.slice(PREFIX.length) : undefined;
    return id !== undefined && HANDLE.test(`artifact:${id}`) ? readArtifact(uri, `artifact:${id}`, reader) : undefined;
  },
};

/** Links to every handle that is in an answer. */
export function artifactLinks(data: JsonValue): readonly { uri: string; name: string }[] {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return [];
  const links: { uri: string; name: string }[] = [];
  for (const [name, value] of Object.entries(data)) {
    if (typeof value !== 'string' || !value.startsWith(SCHEME) || !HANDLE.test(value)) continue;
    links.push({ uri: `${PREFIX}${value.slice(SCHEME.length)}`, name });
  }
  return links;
}

async function readArtifact(uri: string, artifact: string, reader: ResourceReader): Promise<ReadResourceResult> {
  const { session } = await reader.openSession();
  const response = await session.call(READER, { artifact });
  const [error] = response.errors;
  if (error !== undefined) throw new ToolError(error.code, describeError(error));
  const data = isJsonObject(response.data) ? response.data : {};
  const content = data['content'];
  return {
    contents: [{ uri, mimeType: 'text/plain', text: typeof content === 'string' ? content : JSON.stringify(data) }],
  };
}
