/** A registry named on the command line. */
import { readFileSync } from 'node:fs';
import type { RegistryText } from '@tool-runtime/sdk';
import { badUsage } from '../../../terminal/bad-usage.ts';

export function readRegistry(file: string): RegistryText {
  try {
    return { file, text: readFileSync(file, 'utf8') };
  } catch (thrown) {
    const why = (thrown as NodeJS.ErrnoException).code ?? 'unreadable';
    throw badUsage(`Cannot read the registry: ${file} (${why})`, 'name a file that holds a registry');
  }
}
