/** Explanations of rules and error codes, for people who meet a refusal in a chat. */
import { ERROR_CODES, ERROR_GUIDE, type ErrorCode, isErrorCode } from '@tool-runtime/protocol';
import type { PromptSource } from './prompt-source.ts';

export const ruleExplanation: PromptSource = {
  prompt: {
    name: 'explain_rule',
    title: 'Explain a rule',
    description: 'What a rule of the registry checks, when, and how to live with it',
    arguments: [{ name: 'rule', description: 'Rule id, such as secrets.scan', required: true }],
  },
  async get({ rule = '' }) {
    const rules = await listRules();
    const found = rules.find(({ id }) => id === rule);
    const text =
      found === undefined
        ? `There is no rule called ${rule}. Known rules: ${rules.map(({ id }) => id).join(', ')}.`
        : `Explain this rule to me and how to work with it:\n${found.id} (${found.category}, ${found.level}, ${found.trigger}): ${found.description}`;
    return { messages: [{ role: 'user', content: { type: 'text', text } }] };
  },
  complete: async (_argument, value) => (await listRules()).map(({ id }) => id).filter((id) => id.startsWith(value)),
};

export const errorExplanation: PromptSource = {
  prompt: {
    name: 'explain_error',
    title: 'Explain an error code',
    description: 'What one of the ten error codes means and what to do next',
    arguments: [{ name: 'code', description: 'Such as E_POLICY', required: true }],
  },
  get({ code = '' }) {
    const text = isErrorCode(code)
      ? `Explain ${code}: ${describe(code)}`
      : `There is no such code. The ten: ${ERROR_CODES.join(', ')}.`;
    return { messages: [{ role: 'user', content: { type: 'text', text } }] };
  },
  complete: (_argument, value) => ERROR_CODES.filter((code) => code.startsWith(value)),
};

/** Loads the SDK, which an opening handshake must not wait for. */
async function listRules() {
  const { describeRules } = await import('@tool-runtime/sdk');
  return describeRules();
}

function describe(code: ErrorCode): string {
  return Object.values(ERROR_GUIDE[code]).join(' ');
}
