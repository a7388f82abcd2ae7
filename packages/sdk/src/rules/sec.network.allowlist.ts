/**
 * sec.network.allowlist: every declared URL leads to a host the registry lists.
 *
 * This is an early check, before anything is recorded as started. The HTTP client enforces the list: it checks every
 * redirect in the same way and dials only addresses it has checked.
 */
import { isToolError } from '@tool-runtime/protocol';
import { defineRule, type Violation } from '../contracts/rule.ts';
import { judgeUrl } from '../egress/judge-url.ts';

export const secNetworkAllowlist = defineRule({
  id: 'sec.network.allowlist',
  category: 'Security / Network',
  description: 'The host is on the allowlist, at every one of at most three redirects',
  phase: 'before',
  trigger: 'HTTP requests',
  defaultEnforcement: 'blocking',
  always: true,
  errorCode: 'E_POLICY',
  looksAt: ['urls'],
  appliesTo: ({ urls, profile }) => urls.length > 0 && profile.side_effect_level === 'network',
  check: ({ urls }, { registry }) => urls.flatMap(({ key, value }) => judge(key, value, registry.allowedDomains)),
});

function judge(key: string, url: string, allowedDomains: readonly string[]): Violation[] {
  try {
    judgeUrl(url, allowedDomains);
    return [];
  } catch (refusal) {
    // The judgement refuses by throwing; here its refusal is the finding.
    if (!isToolError(refusal)) throw refusal;
    return [{ message: refusal.message, path: key, details: refusal.details }];
  }
}
