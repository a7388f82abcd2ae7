/**
 * Answers made of content blocks as MCP defines them. Text is text; pictures, sound and links reach the client as what
 * they are.
 */
import type { JsonObject } from '@tool-runtime/protocol';
import { type AnswerPart, callText, type ToolText } from '../contracts/tool-text.ts';

export interface BlockAnswer {
  readonly content: readonly ({ readonly type: string } & Readonly<Record<string, unknown>>)[];
  readonly structured?: unknown;
  readonly artifact?: { readonly handle: string } | undefined;
}

/** Throws for other answers. */
export function presentBlocks(data: unknown): ToolText {
  const { content, structured, artifact } = data as BlockAnswer;
  const rest = (): string =>
    artifact === undefined ? 'ask the tool for less' : callText('artifact_read', { artifact: artifact.handle });
  const parts = content.map(({ type, text, ...others }): AnswerPart => {
    if (type === 'text' && typeof text === 'string') return { type: 'text', text, rest };
    return { type: 'block', block: { type, ...others } as unknown as JsonObject };
  });
  if (parts.length > 0 || structured === undefined) return { parts };
  return { parts: [{ type: 'text', text: JSON.stringify(structured, null, 1), rest }] };
}
