/** The answer of a tool as a model or a person reads it. Programs read the data instead. */
import type { JsonObject } from '@tool-runtime/protocol';
import type { ToolArgs } from './tool-types.ts';

export interface ToolText {
  /** A line or a few that are shown first, and whole: what was done, to what, with which result. */
  readonly head?: string;
  /** The content, in this order. A long part is cut, the others are not. */
  readonly parts?: readonly AnswerPart[];
}

export type AnswerPart = TextPart | BlockPart;

export interface TextPart {
  readonly type: 'text';
  /** A line above it that is no part of what is counted and cut. */
  readonly title?: string;
  /** Text is cut after a whole line; a list is cut after a whole item, each of which may have several lines. */
  readonly text: string | readonly string[];
  /** How many lines a text has, where the tool has counted them: a long text is not counted again. */
  readonly lines?: number;
  /** What a cut keeps: the beginning (`start`, the default), or beginning and end, where a program reports its result. */
  readonly keep?: 'start' | 'ends';
  /** How to get what a cut leaves out: the exact call, as `callText` writes it. */
  rest?(shown: ShownPart): string;
}

/** What is still shown at the beginning of a part that was cut. */
export interface ShownPart {
  /** Whole lines of a text, or whole items of a list. */
  readonly items: number;
  readonly bytes: number;
}

/** A content block as MCP defines it: image, audio, resource or resource_link. */
export interface BlockPart {
  readonly type: 'block';
  readonly block: JsonObject;
}

/** What an answer costs its reader. */
export interface AnswerPrice {
  /** UTF-8 bytes of the text and of all blocks. */
  readonly bytes: number;
  /** An estimate: one token for four bytes of text, 1,600 for a picture. */
  readonly tokens: number;
  /** Something was left out, and the text says what and how to get it. */
  readonly cut: boolean;
}

export interface PresentedAnswer {
  /** Warnings, head and content, within the limit. */
  readonly text: string;
  readonly blocks: readonly JsonObject[];
  readonly price: AnswerPrice;
  /** Bytes of text that the limit allows. */
  readonly maxBytes: number;
}

/** A call as a model can repeat it: `file_read {"path":"a.ts","offset":201}`. */
export function callText<Name extends string>(tool: Name, args: ToolArgs<Name>): string {
  return `${tool} ${JSON.stringify(args)}`;
}
