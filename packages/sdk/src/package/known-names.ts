/** A tool that is called by the name it has elsewhere: the call that does the same here. */
import { isJsonObject } from '@tool-runtime/protocol';
import type { AnyTool } from '../contracts/tool.ts';

/** Values of these arguments are names and numbers; of the others a call shows only that they belong there. */
const SHOWN = new Set(['path', 'glob', 'pattern', 'offset', 'limit', 'timeout_ms']);
const MAX_SHOWN = 200;

export interface KnownCall {
  readonly tool: string;
  /** `file_read {"path":"a.ts"}` */
  readonly text: string;
}

export function callInOurWords(name: string, args: unknown, tools: Iterable<AnyTool>): KnownCall | undefined {
  const asked = name.toLowerCase().replace(/[_-]/g, '');
  for (const { name: tool, knownAs } of tools) {
    if (knownAs?.names.includes(asked) !== true) continue;
    const given = isJsonObject(args) ? Object.entries(args) : [];
    const ours = given.flatMap(([argument, value]): [string, unknown][] => {
      const own = Object.hasOwn(knownAs.args, argument) ? knownAs.args[argument] : undefined;
      if (own === undefined) return [];
      return [[own, SHOWN.has(own) && String(value).length <= MAX_SHOWN ? value : '…']];
    });
    return { tool, text: `${tool} ${JSON.stringify(Object.fromEntries(ours))}` };
  }
  return undefined;
}
