/** Every kind of call, by the workspace it is made in. */
import { attackCalls } from './attack-calls.ts';
import type { CallKind } from './call-maker.ts';
import { codeCalls } from './code-calls.ts';
import { fileCalls } from './file-calls.ts';
import { gitCalls, gitLaneCalls } from './git-calls.ts';
import { programCalls } from './program-calls.ts';
import { tokenCalls } from './token-calls.ts';

const EVERYWHERE = [...fileCalls, ...tokenCalls, ...programCalls, ...attackCalls];

export const mainCalls: readonly CallKind[] = [...EVERYWHERE, ...gitCalls, ...codeCalls];
export const otherCalls: readonly CallKind[] = EVERYWHERE;
/** One lane of the other workspace does nothing else. */
export const gitOnlyCalls: readonly CallKind[] = gitLaneCalls;
