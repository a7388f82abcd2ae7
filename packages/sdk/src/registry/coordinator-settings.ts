/** The coordinator's section in the form the runtime uses: every question by name, in one order, defaults filled in. */
import { COORDINATOR_QUESTIONS, type CoordinatorSettings } from '../contracts/coordinator.ts';
import { canonicalJson } from '../platform/digest.ts';
import { coordinatorSection, type RegistryDocument } from './document.ts';

export function coordinatorSettings(written: RegistryDocument['coordinator']): CoordinatorSettings {
  const { required, timeout_ms, share_args } = written ?? coordinatorSection.parse({});
  return {
    required: COORDINATOR_QUESTIONS.filter((question) => required === true || required.includes(question)),
    timeout_ms,
    share_args,
  };
}

/** Nothing where the section says what holds without it: registries that mean the same have the same fingerprint. */
export function fingerprintedSettings(settings: CoordinatorSettings): { readonly coordinator?: CoordinatorSettings } {
  const isDefault = canonicalJson({ ...settings }) === canonicalJson({ ...coordinatorSettings(undefined) });
  return isDefault ? {} : { coordinator: settings };
}

/** The questions as they stand in a written list; none for `true`. */
export function listedQuestions({ coordinator }: RegistryDocument): readonly string[] {
  return coordinator === undefined || coordinator.required === true ? [] : coordinator.required;
}
