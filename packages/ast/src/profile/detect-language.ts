/** Which language a file is in: by exact name, then by the longest extension, then by its `#!` line. */
import path from 'node:path';
import type { LanguageProfile } from './profile.ts';

export interface DetectHints {
  /** First line of the content, where it is at hand; only files without a known extension need it. */
  readonly firstLine?: string;
  /** Languages to prefer where several claim the extension, such as `.h` beside C++ files. */
  readonly prefer?: readonly string[];
}

export interface LanguageDetector {
  /** Language id, or undefined for a file that is in none of them. */
  detect(file: string, hints?: DetectHints): string | undefined;
}

/** The part of a profile that says which files are in the language. */
export type LanguageNames = Pick<LanguageProfile, 'id' | 'detect'>;

export function createLanguageDetector(profiles: readonly LanguageNames[]): LanguageDetector {
  const names = claims(profiles, (profile) => profile.detect.names);
  const extensions = claims(profiles, (profile) => profile.detect.ext);
  const interpreters = claims(profiles, (profile) => profile.detect.shebang);
  return {
    detect(file, hints = {}) {
      const base = path.posix.basename(file);
      const found =
        names.get(base) ?? byExtension(extensions, base.toLowerCase()) ?? byShebang(interpreters, hints.firstLine);
      return found === undefined ? undefined : preferred(found, hints.prefer);
    },
  };
}

function claims(
  profiles: readonly LanguageNames[],
  keysOf: (profile: LanguageNames) => readonly string[],
): Map<string, string[]> {
  const claimed = new Map<string, string[]>();
  for (const profile of profiles) {
    for (const key of keysOf(profile)) {
      const ids = claimed.get(key) ?? [];
      claimed.set(key, [...ids, profile.id]);
    }
  }
  return claimed;
}

/** `a.d.ts` is tried as `.d.ts`, then `.ts`; the name itself is not an extension, so a file named `.ts` has no extension. */
function byExtension(extensions: ReadonlyMap<string, string[]>, base: string): string[] | undefined {
  for (let dot = base.indexOf('.', 1); dot !== -1; dot = base.indexOf('.', dot + 1)) {
    const found = extensions.get(base.slice(dot));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `#!/usr/bin/env -S python3.12 -u` and `#!/bin/python` both name `python`. */
function byShebang(interpreters: ReadonlyMap<string, string[]>, firstLine = ''): string[] | undefined {
  const match = /^\uFEFF?#!\s*(\S+)(?:\s+(.*))?$/u.exec(firstLine.trimEnd());
  if (match === null) return undefined;
  const command = path.posix.basename(match[1] ?? '');
  const viaEnv = (match[2] ?? '').split(/\s+/).find((word) => !word.startsWith('-') && !word.includes('='));
  const program = path.posix.basename(command === 'env' ? (viaEnv ?? '') : command);
  return interpreters.get(program) ?? interpreters.get(program.replace(/[\d.]+$/, ''));
}

function preferred(ids: readonly string[], prefer: readonly string[] = []): string | undefined {
  return prefer.find((id) => ids.includes(id)) ?? ids[0];
}
