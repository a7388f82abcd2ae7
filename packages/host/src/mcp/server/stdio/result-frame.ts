/** Answers as text. The data of a call stands in them twice, as structure and as text, and is written out once. */
import type { ToolResponse } from '@tool-runtime/protocol';
import { artifactLinks } from '../artifact-resources.ts';
import { showData, toToolResult } from '../tool-result.ts';
import { stampsOf } from './opening.ts';
import type { RequestId } from './plain-message.ts';

export interface FrameFamily {
  readonly isModern: boolean;
  readonly serverVersion: string;
}

export class ResultFrames {
  readonly #stamps: string;
  readonly #family: FrameFamily;

  constructor(family: FrameFamily) {
    this.#family = family;
    this.#stamps = family.isModern ? JSON.stringify(stampsOf(family)).slice(1, -1) : '';
  }

  ofResponse(id: RequestId, response: ToolResponse): string {
    if (!response.ok || response.warnings.length > 0) return this.of(id, toToolResult(response));
    const { text, structured } = showData(response.data);
    if (structured === undefined) return this.of(id, toToolResult(response));
    const links = artifactLinks(response.data).map((link) => `,${JSON.stringify({ type: 'resource_link', ...link })}`);
    const content = `[{"type":"text","text":${JSON.stringify(text)}}${links.join('')}]`;
    return frame(
      id,
      `{"content":${content},"structuredContent":${text}${this.#stamps === '' ? '' : `,${this.#stamps}`}}`,
    );
  }

  of(id: RequestId, result: { readonly _meta?: object | undefined }): string {
    const { isModern, serverVersion } = this.#family;
    const stamped = isModern ? { ...result, ...stampsOf({ serverVersion, meta: result._meta }) } : result;
    return frame(id, JSON.stringify(stamped));
  }
}

export function frame(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
}
