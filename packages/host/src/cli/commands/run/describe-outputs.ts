/** The outputs of a run, in a few words. */
import { plainText } from '../../../terminal/plain-text.ts';

const SHOWN = 3;

export function describeOutputs(outputs: readonly { readonly path: string; readonly bytes?: number }[]): string {
  if (outputs.length === 0) return 'no outputs';
  const shown = outputs.slice(0, SHOWN).map(({ path, bytes = 0 }) => `${plainText(path)} (${bytes} bytes)`);
  const more = outputs.length > SHOWN ? [`${outputs.length - SHOWN} more`] : [];
  return [...shown, ...more].join(', ');
}
