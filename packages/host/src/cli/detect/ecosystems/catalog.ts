/** Every ecosystem. The order decides which language of a mixed workspace is the main one. */
import type { Ecosystem } from '../detected-project.ts';
import { cargo } from './cargo.ts';
import { cmake } from './cmake.ts';
import { composer } from './composer.ts';
import { dotnet } from './dotnet.ts';
import { go } from './go.ts';
import { jvm } from './jvm.ts';
import { make } from './make.ts';
import { node } from './node.ts';
import { python } from './python.ts';
import { ruby } from './ruby.ts';

export const ECOSYSTEMS: readonly Ecosystem[] = [node, cargo, go, python, jvm, dotnet, ruby, composer, cmake, make];
