/** External tools in the form the runtime uses, and the level they need. */
import { type SideEffectLevel, sideEffectRank } from '../contracts/annotations.ts';
import type { ExternalToolSettings } from '../contracts/external.ts';
import type { RegistryDocument } from './document.ts';

type Written = RegistryDocument['external_tools'];

export function externalToolSettings(written: Written): readonly ExternalToolSettings[] {
  return written.map(
    ({ summary, command = '', ...tool }) =>
      ({ ...tool, summary: summary ?? `Run ${tool.name}`, command }) as ExternalToolSettings,
  );
}

/** An entry of a registry that only narrows, for one of the host's tools. */
export function isReference({ command }: ExternalToolSettings): boolean {
  return command === '';
}

/** The highest level any of them has; undefined when there is none. */
export function externalToolsLevel(written: Written): SideEffectLevel | undefined {
  const levels = written.map(({ side_effect_level }) => side_effect_level);
  return levels.toSorted((left, right) => sideEffectRank(right) - sideEffectRank(left))[0];
}
