/** Replaces the registry in which nothing is written by what its schema makes of it when the bundle is built. */
import assert from 'node:assert/strict';
import type { Plugin } from 'esbuild';
import { unwrittenDocument } from '../../packages/sdk/src/registry/unwritten-document.ts';

export const defaultsReady: Plugin = {
  name: 'defaults-ready',
  setup({ onLoad }) {
    onLoad({ filter: /packages\/sdk\/src\/registry\/unwritten-document\.ts$/ }, () => {
      const document = unwrittenDocument();
      const text = JSON.stringify(document);
      assert.deepEqual(JSON.parse(text), document);
      return { contents: `export const unwrittenDocument = () => JSON.parse(${JSON.stringify(text)});`, loader: 'js' };
    });
  },
};
