/**
 * Every family of formats. The order matters: the more specific format comes before one that would also match
 * (`a.py:3: error:` is a Python line before it is a compiler's).
 */

import { biome } from './biome.ts';
import type { FindingFormat } from './command-finding.ts';
import { compilers } from './compilers.ts';
import { eslint } from './eslint.ts';
import { githubCommands } from './github-commands.ts';
import { go } from './go.ts';
import { java } from './java.ts';
import { oxlint } from './oxlint.ts';
import { prettier } from './prettier.ts';
import { python } from './python.ts';
import { pythonTypes } from './python-types.ts';
import { rust } from './rust.ts';
import { typescript } from './typescript.ts';

export const FINDING_FORMATS: readonly FindingFormat[] = [
  githubCommands,
  typescript,
  biome,
  oxlint,
  eslint,
  prettier,
  rust,
  go,
  pythonTypes,
  python,
  java,
  compilers,
];
