/** Text of an analyzer to findings: the adapter of its format, then places in one unit. */
import type { AdapterContext, Analysis, AnalyzerAdapter } from './analyzer-adapter.ts';
import * as catalog from './formats/catalog.ts';
import { type PlacingOptions, placeAnalysis } from './place/place-analysis.ts';

export type AnalyzerFormat = (typeof catalog)[keyof typeof catalog]['format'];

const ADAPTERS: ReadonlyMap<string, AnalyzerAdapter> = new Map(
  Object.values(catalog).map((adapter) => [adapter.format, adapter]),
);

export const ANALYZER_FORMATS: readonly AnalyzerFormat[] = Object.values(catalog).map(({ format }) => format);

export interface ParseContext extends AdapterContext, PlacingOptions {}

/** Throws E_VALIDATION_FAIL when the text is not of the format, TypeError for a format that does not exist. */
export async function parseAnalysis(format: AnalyzerFormat, text: string, context: ParseContext): Promise<Analysis> {
  const adapter = ADAPTERS.get(format);
  if (adapter === undefined) throw new TypeError(`Unknown analyzer format: ${format}`);
  return placeAnalysis(adapter.read(text, context), context);
}
