/**
 * In bundles a schema is built when it is first used. A process builds hundreds of them on its way to a call that needs
 * three, which is most of what loading our sources costs.
 *
 * `z.string().max(5)` gives a stand-in that remembers how it is made. Asking it for anything else than one more step of
 * the chain makes the schema, once, and from then on the stand-in is that schema. Types and sources know nothing of it.
 *
 * Not for schemas that other programs compose with a zod of their own: it keeps descriptions by schema, and a stand-in is
 * another object.
 */
import type { Plugin } from 'esbuild';

const NAMESPACE = 'late-schemas';

export const lateSchemas: Plugin = {
  name: 'late-schemas',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^zod$/ }, ({ importer, namespace }) =>
      namespace === 'file' && /packages\/\w+\/src\//.test(importer)
        ? { path: 'zod', namespace: NAMESPACE, sideEffects: false }
        : undefined,
    );
    onLoad({ filter: /./, namespace: NAMESPACE }, () => ({ contents: TEXT, resolveDir: import.meta.dirname }));
  },
};

const BUILDERS = [
  ...['any', 'array', 'boolean', 'custom', 'discriminatedUnion', 'int', 'json', 'literal', 'looseObject', 'number'],
  ...['object', 'partialRecord', 'record', 'strictObject', 'string', 'tuple', 'union', 'unknown', 'url'],
];

/** `meta` without arguments reads. */
const STEPS = [
  ...['and', 'array', 'brand', 'catch', 'default', 'describe', 'exactOptional', 'extend', 'gt', 'gte', 'int', 'length'],
  ...['lt', 'lte', 'max', 'meta', 'min', 'nonempty', 'nonnegative', 'nullable', 'nullish', 'omit', 'optional', 'or'],
  ...['overwrite', 'partial', 'pick', 'pipe', 'positive', 'prefault', 'readonly', 'refine', 'regex', 'safeExtend'],
  ...['superRefine', 'transform', 'trim'],
];

const TEXT = `
import * as real from 'zod';
export * from 'zod';

const STEPS = new Set(${JSON.stringify(STEPS)});
const MAKE = Symbol('make');

const handler = {
  get(held, key) {
    if (key === MAKE) return () => made(held);
    if (held.made === undefined && STEPS.has(key)) {
      return (...given) => (key === 'meta' && given.length === 0 ? made(held).meta() : later(() => made(held)[key](...given.map(whole))));
    }
    return made(held)[key];
  },
  set(held, key, value) { made(held)[key] = value; return true; },
  has: (held, key) => key === MAKE || key in made(held),
  ownKeys: (held) => Reflect.ownKeys(made(held)),
  getOwnPropertyDescriptor(held, key) {
    const found = Reflect.getOwnPropertyDescriptor(made(held), key);
    return found === undefined ? undefined : { ...found, configurable: true };
  },
  getPrototypeOf: (held) => Reflect.getPrototypeOf(made(held)),
};

function made(held) {
  if (held.made === undefined) {
    held.made = held.make();
    held.make = undefined;
  }
  return held.made;
}

function later(make) {
  return new Proxy({ make, made: undefined }, handler);
}

function isLater(value) {
  return typeof value === 'object' && value !== null && MAKE in value;
}

/** An argument with schemas in the place of stand-ins. */
function whole(value) {
  if (typeof value !== 'object' || value === null) return value;
  if (MAKE in value) return value[MAKE]();
  if (Array.isArray(value)) return value.some(isLater) ? value.map(whole) : value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  const entries = Object.entries(value);
  return entries.some(([, one]) => isLater(one)) ? Object.fromEntries(entries.map(([key, one]) => [key, whole(one)])) : value;
}

${BUILDERS.map((name) => `export const ${name} = (...given) => later(() => real.${name}(...given.map(whole)));`).join('\n')}
const one_of = (...given) => later(() => real.enum(...given.map(whole)));
const nothing = (...given) => later(() => real.null(...given));
export { one_of as enum, nothing as null };
// Descriptions are kept by schema, and a stand-in is another object.
export const toJSONSchema = (schema, ...rest) => real.toJSONSchema(whole(schema), ...rest);
`;
