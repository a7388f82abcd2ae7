/** The answer to an id that names nothing any more. */
import { ToolError } from '@tool-runtime/protocol';

export function unknownNode(id: string): ToolError {
  return new ToolError('E_VALIDATION_FAIL', `No declaration has this id: ${id.slice(0, 80)}`, {
    path: 'node_id',
    details: { reason: 'stale_node', next: 'query again: ids change with name, container and file' },
  });
}
