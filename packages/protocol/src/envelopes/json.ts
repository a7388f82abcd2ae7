/** JSON values as zod schemas, checked in place: the value is passed on, never copied. */
import { z } from 'zod';
import type { JsonObject, JsonValue } from '../primitives/errors.ts';
import { isJsonObject, isJsonValue } from '../primitives/is-json.ts';

export const jsonValueSchema = z
  .custom<JsonValue>(isJsonValue, 'expected a JSON value')
  .meta({ description: 'Any JSON value' });

export const jsonObjectSchema = z.custom<JsonObject>(isJsonObject, 'expected a JSON object').meta({ type: 'object' });
