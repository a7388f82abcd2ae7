/** Loads koffi, which calls functions of the C library. Throws where it is not installed or does not fit this machine. */
import { createRequire } from 'node:module';

export type NativeFunction = (...args: readonly unknown[]) => number;

export interface NativeLibrary {
  func(name: string, result: string, parameters: readonly string[]): NativeFunction;
}

export interface Koffi {
  load(path: null): NativeLibrary;
  errno(): number;
}

/**
 * Its binary first, which koffi has as a package of its own per machine: what koffi adds to it are deprecated names, and
 * adding them takes longer than everything else a short command does with it.
 */
export function loadKoffi(): Koffi {
  const require = createRequire(import.meta.url);
  try {
    return createRequire(require.resolve('koffi'))(`@koromix/koffi-${process.platform}-${process.arch}`) as Koffi;
  } catch {
    return require('koffi') as Koffi;
  }
}
