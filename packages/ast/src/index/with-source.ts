/** Adds the text of declarations, cut from the files they were read from and from no other content. */
import { isUtf8 } from 'node:buffer';
import { isToolError } from '@tool-runtime/protocol';
import type { Workspace } from '@tool-runtime/sdk';
import type { QueryNode } from '../contracts/code-index-contract.ts';
import type { FileTable } from './file-table.ts';

export interface SourcedNodes {
  readonly nodes: QueryNode[];
  /** Files that are not what the index knows any more. */
  readonly changed: string[];
}

export async function withSource(
  nodes: readonly QueryNode[],
  { workspace, table }: { readonly workspace: Workspace; readonly table: FileTable },
): Promise<SourcedNodes> {
  const answer: SourcedNodes = { nodes: [], changed: [] };
  for (const [file, ofFile] of Map.groupBy(nodes, (node) => node.file)) {
    const content = await contentOf(file, workspace);
    const known = table.get(file)?.sha256;
    if (content === undefined || (known !== undefined && known !== content.sha256)) {
      answer.changed.push(file);
      answer.nodes.push(...ofFile);
      continue;
    }
    const bytes = Buffer.from(content.bytes.buffer, content.bytes.byteOffset, content.bytes.byteLength);
    const encoding = isUtf8(bytes) ? 'utf8' : 'latin1';
    for (const node of ofFile) {
      answer.nodes.push({ ...node, source: bytes.toString(encoding, node.span.start, node.span.end) });
    }
  }
  return answer;
}

async function contentOf(file: string, workspace: Workspace) {
  try {
    return await workspace.readFile(file);
  } catch (thrown) {
    if (!isToolError(thrown)) throw thrown;
    return undefined;
  }
}
