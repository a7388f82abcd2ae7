/** Unix seconds, whole or decimal. Not milliseconds: the wire keeps seconds, the runtime converts at the edge. */
import { z } from 'zod';

export const timestampSchema = z.number().nonnegative().meta({ description: 'Unix time in seconds' });
