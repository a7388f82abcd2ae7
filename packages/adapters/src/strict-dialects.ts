/** What the strict tool schemas of the model providers can say. Data only; `strict-schema.ts` reads it. */

export const STRICT_PROVIDERS = ['openai', 'anthropic', 'gemini'] as const;
export type StrictProvider = (typeof STRICT_PROVIDERS)[number];

export interface StrictDialect {
  readonly provider: StrictProvider;
  /** Every property must be required; one that may be left out is null instead. */
  readonly isAllRequired: boolean;
  /** Objects with undeclared names are possible; otherwise they become lists of name and value. */
  readonly hasOpenMaps: boolean;
  /** Limits on values that stay keywords. The others move into the description, where the model still reads them. */
  readonly keptLimits: ReadonlySet<string>;
  readonly keptFormats: ReadonlySet<string>;
  readonly maxMinItems: number;
  /** `type` beside `enum` or `const` is dropped by the provider. */
  readonly isTypeDroppedByLiterals: boolean;
  /** Types of the values that `enum` may list; a single value is then an `enum` too. Left out: all, and `const`. */
  readonly enumTypes?: ReadonlySet<string>;
  readonly maxDepth: number;
  readonly maxProperties: number;
}

const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'] as const;
const NUMBER_LIMITS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const;

export const STRICT_DIALECTS: Readonly<Record<StrictProvider, StrictDialect>> = {
  openai: {
    provider: 'openai',
    isAllRequired: true,
    hasOpenMaps: false,
    keptLimits: new Set([...NUMBER_LIMITS, 'pattern', 'minItems', 'maxItems']),
    keptFormats: new Set(FORMATS.filter((format) => format !== 'uri')),
    maxMinItems: Number.POSITIVE_INFINITY,
    isTypeDroppedByLiterals: false,
    maxDepth: 10,
    maxProperties: 5000,
  },
  anthropic: {
    provider: 'anthropic',
    isAllRequired: false,
    hasOpenMaps: false,
    keptLimits: new Set(['minItems']),
    keptFormats: new Set(FORMATS),
    maxMinItems: 1,
    isTypeDroppedByLiterals: true,
    maxDepth: Number.POSITIVE_INFINITY,
    maxProperties: Number.POSITIVE_INFINITY,
  },
  gemini: {
    provider: 'gemini',
    isAllRequired: false,
    hasOpenMaps: true,
    keptLimits: new Set(['minimum', 'maximum', 'minItems', 'maxItems']),
    keptFormats: new Set(['date-time', 'date', 'time']),
    maxMinItems: Number.POSITIVE_INFINITY,
    isTypeDroppedByLiterals: false,
    enumTypes: new Set(['string', 'number']),
    maxDepth: Number.POSITIVE_INFINITY,
    maxProperties: Number.POSITIVE_INFINITY,
  },
};
