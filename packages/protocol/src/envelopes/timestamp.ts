/** Whole Unix seconds. Not milliseconds: the wire keeps seconds, the runtime converts at the edge. */
import { z } from 'zod';

export const timestampSchema = z.int().nonnegative().meta({ description: 'Unix time in whole seconds' });
