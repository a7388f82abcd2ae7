/** Type-checked without any types of Node: what a page uses of the protocol package. */
import { ERROR_CODES, type ErrorCode, isToolError, type ToolRequest, type ToolResponse } from '@tool-runtime/protocol';
import { connectToHost, type HostSession } from '@tool-runtime/protocol/client';

export async function readFromPage(url: string, token: string): Promise<ToolResponse> {
  const session: HostSession = await connectToHost({ url, token });
  return session.call('file_read', { path: 'README.md' });
}

export function describeFault(thrown: unknown, request: ToolRequest): ErrorCode {
  return isToolError(thrown) ? thrown.code : request.tool === '' ? ERROR_CODES[0] : 'E_INTERNAL';
}
