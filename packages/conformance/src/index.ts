/** The conformance suite as a library; the command is `npx @tool-runtime/conformance`. */
export type { Case, Need } from './cases/case.ts';
export { main } from './command.ts';
export { loadProfile, ProfileProblem, SHIPPED as SHIPPED_PROFILES } from './profile/load-profile.ts';
export { type Profile, type ProfileSource, profileSchema } from './profile/profile.ts';
export { badge, resultLine, summaryLine } from './report.ts';
export { CASES, type CaseResult, type Outcome, runSuite, type SuiteOptions, type SuiteResult } from './run-suite.ts';
export type { Effort, Target } from './scene/scene.ts';
export { ServerGone } from './server/line-process.ts';
export type { Protocol } from './server/server.ts';
