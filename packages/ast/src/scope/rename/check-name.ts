/** Whether a name may be given at all, by the language's profile. */
import type { LanguageProfile } from '../../profile/profile.ts';
import type { Refusal } from './rename-plan.ts';

export function checkName(profile: LanguageProfile, oldName: string, newName: string): Refusal | undefined {
  const { regex, keywords } = profile.identifier;
  if (newName === oldName) return refuse(`New name equals the old one: ${newName}`);
  // A private member's name; no variable can have it.
  const isName = new RegExp(regex, 'u').test(newName) && !newName.startsWith('#');
  if (!isName) return refuse(`Not a name in ${profile.label}: ${newName.slice(0, 80)}`);
  return keywords.includes(newName) ? refuse(`Keyword of ${profile.label}: ${newName}`) : undefined;
}

function refuse(message: string): Refusal {
  return { reason: 'invalid_name', message };
}
