/**
 * Loaded before an example (`node --import`): every runtime that the example opens gets a cassette of its own, and what
 * its sessions are answered is written down. Examples are not changed for that.
 *
 * TAPE_FOLDER has the cassettes, numbered in the order in which runtimes are opened; TAPE_MODE is the mode.
 */
import { registerHooks } from 'node:module';

const wrappers: Readonly<Record<string, string>> = {
  '@tool-runtime/sdk': new URL('./taped-sdk.ts', import.meta.url).href,
  '@tool-runtime/host': new URL('./taped-host.ts', import.meta.url).href,
};
const examples = new URL('../../examples/', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    const wrapper = context.parentURL?.startsWith(examples) === true ? wrappers[specifier] : undefined;
    return wrapper === undefined
      ? next(specifier, context)
      : { url: wrapper, format: 'module-typescript', shortCircuit: true };
  },
});
