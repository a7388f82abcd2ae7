/** Every fault, one line each. */
export { clockStep } from './clock-step.ts';
export { fullState, fullWorkspace, killWhileFull, readOnlyState, readOnlyWorkspace, slowDisk } from './disk-faults.ts';
export { killHost } from './kill-host.ts';
export { fewDescriptors, littleMemory } from './limits.ts';
export { killGit, killSearch, killServer, killTool, stopTool } from './process-faults.ts';
export { rotateJournal } from './rotate-journal.ts';
export { stopHost } from './stop-host.ts';
