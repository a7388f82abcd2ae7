/** Server-sent events out of a stream of text; only what the host uses: id, data, comments. */
import assert from 'node:assert/strict';

export interface SseListener {
  event(event: { readonly id: number; readonly data: string }): void;
  comment(text: string): void;
}

export function createSseReader(listener: SseListener): { push(text: string): void } {
  let rest = '';
  return {
    push(text) {
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) readBlock(block, listener);
    },
  };
}

function readBlock(block: string, listener: SseListener): void {
  if (block.startsWith(':')) {
    listener.comment(block.slice(1).trim());
    return;
  }
  const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(block) ?? [];
  assert.ok(id !== undefined && data !== undefined, `no event: ${block.slice(0, 200)}`);
  listener.event({ id: Number(id), data });
}
