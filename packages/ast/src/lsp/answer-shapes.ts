/**
 * The shapes of the protocol's answers that we look into, and ours made from them.
 *
 * Positions are the protocol's: lines and characters from 0, characters in UTF-16 units, a byte order mark not counted.
 */
import { z } from 'zod';
import { badAnswer } from './server-errors.ts';

export interface TextRange {
  readonly startLine: number;
  readonly startCharacter: number;
  readonly endLine: number;
  readonly endCharacter: number;
}

export interface TextPosition {
  readonly line: number;
  readonly character: number;
}

const count = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);
const position = z.object({ line: count, character: count });
export const rangeShape = z.object({ start: position, end: position });
export const textEditShape = z.object({ range: rangeShape, newText: z.string() });

const location = z.object({ uri: z.string(), range: rangeShape });
const locationLink = z.object({ targetUri: z.string(), targetSelectionRange: rangeShape });
export const locationsShape = z.union([
  z.null(),
  location.transform((one) => [one]),
  z.array(z.union([location, locationLink])),
]);

const markup = z.union([z.string(), z.object({ value: z.string() })]);
export const hoverShape = z
  .object({ contents: z.union([markup, z.array(markup)]), range: rangeShape.nullish() })
  .nullable();

export const symbolInformationShape = z.object({
  name: z.string(),
  kind: z.int(),
  containerName: z.string().nullish(),
  location: z.object({ uri: z.string(), range: rangeShape.optional() }),
});

export const prepareRenameShape = z.union([
  z.null(),
  z.object({ range: rangeShape, placeholder: z.string() }),
  z.object({ defaultBehavior: z.boolean() }),
  rangeShape,
]);

export const codeActionShape = z.object({
  title: z.string(),
  kind: z.string().optional(),
  isPreferred: z.boolean().optional(),
  disabled: z.object({ reason: z.string() }).optional(),
  edit: z.unknown().optional(),
  command: z.unknown().optional(),
});

export const diagnosticShape = z.object({
  range: rangeShape,
  severity: z.int().min(1).max(4).optional(),
  code: z.union([z.string(), z.number()]).optional(),
  source: z.string().optional(),
  message: z.union([z.string(), z.object({ value: z.string() })]),
});

/** Throws E_INTERNAL with reason `bad_answer`. */
export function readAnswer<Shape extends z.ZodType>(shape: Shape, value: unknown, method: string): z.output<Shape> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  throw badAnswer(method, `not what the protocol says at ${parsed.error.issues[0]?.path.join('.') || 'its top'}`);
}

export function flatRange({ start, end }: z.output<typeof rangeShape>): TextRange {
  return {
    startLine: start.line,
    startCharacter: start.character,
    endLine: end.line,
    endCharacter: end.character,
  };
}

export function protocolRange(range: TextRange): z.output<typeof rangeShape> {
  return {
    start: { line: range.startLine, character: range.startCharacter },
    end: { line: range.endLine, character: range.endCharacter },
  };
}

/** Negative when `a` comes before `b`. */
export function comparePositions(a: TextPosition, b: TextPosition): number {
  return a.line - b.line || a.character - b.character;
}
