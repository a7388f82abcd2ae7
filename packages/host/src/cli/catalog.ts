/** Every command, one line each. */
export { approvals } from './commands/approvals.ts';
export { ast } from './commands/ast.ts';
export { audit } from './commands/audit.ts';
export { call } from './commands/call.ts';
export { doctor } from './commands/doctor.ts';
export { explain } from './commands/explain.ts';
export { hook } from './commands/hook.ts';
export { init } from './commands/init.ts';
export { revoke } from './commands/revoke.ts';
export { serve } from './commands/serve.ts';
export { status } from './commands/status.ts';
export { stdio } from './commands/stdio.ts';
export { stop } from './commands/stop.ts';
export { token } from './commands/token.ts';
export { tools } from './commands/tools.ts';
export { trust } from './commands/trust.ts';
export { validate } from './commands/validate.ts';
