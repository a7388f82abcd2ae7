/** Processes that run the sources start faster when they find them compiled. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const COMPILE_CACHE = { NODE_COMPILE_CACHE: join(tmpdir(), 'tool-runtime-compiled') };
