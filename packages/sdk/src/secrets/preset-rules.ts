/**
 * The rules of secretlint's recommended preset, called one by one.
 *
 * Not its comment filter, by which a scanned text could switch the scan off, and not its engine, which keeps a timing
 * mark of every run for the life of the process and compares every report with every other.
 */
import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type { Anchored } from './anchor-index.ts';
import { PRESET_GATES } from './preset-gates.ts';
import { privateKeyAt } from './private-key.ts';
import type { SecretMatch } from './secret-finding.ts';

export interface PresetRule extends Anchored {
  /** The last part of the id it has in the preset. */
  readonly name: string;
  /** Whether an anchor at this place can belong to a match. */
  mayMatch(text: string, offset: number): boolean;
  run(source: ScannedSource): Promise<readonly SecretMatch[]>;
}

export interface ScannedSource {
  /** File name; some rules look only into files of a certain name. */
  readonly name: string;
  readonly text: string;
}

/** What a rule hands over, of which the translated sentence would hold the secret. */
interface Report {
  readonly message: { readonly messageId: string; readonly data: Readonly<Record<string, unknown>> };
  readonly range: readonly [number, number];
}

interface Rule {
  readonly meta: { readonly id: string };
  create(context: unknown, options: unknown): { file?(source: unknown): unknown };
}

const COMMENT_FILTER = 'filter-comments';
const ID_PREFIX = /^.*secretlint-rule-/;
const OPTIONS: Readonly<Record<string, object>> = { aws: { enableIDScanRule: true } };

const KIND_BY_RULE: Readonly<Record<string, string>> = {
  '1password': '1password-token',
  anthropic: 'anthropic-key',
  basicauth: 'basic-auth-url',
  cloudflare: 'cloudflare-token',
  'database-connection-string': 'database-url',
  databricks: 'databricks-token',
  docker: 'docker-token',
  figma: 'figma-token',
  gcp: 'gcp-service-account-key',
  github: 'github-token',
  gitlab: 'gitlab-token',
  grafana: 'grafana-token',
  groq: 'groq-key',
  'hashicorp-vault': 'hashicorp-vault-token',
  huggingface: 'huggingface-token',
  linear: 'linear-token',
  notion: 'notion-token',
  npm: 'npm-token',
  openai: 'openai-key',
  privatekey: 'private-key',
  sendgrid: 'sendgrid-key',
  shopify: 'shopify-key',
  slack: 'slack-token',
  stripe: 'stripe-key',
  tailscale: 'tailscale-key',
  vercel: 'vercel-token',
};

const KIND_BY_MESSAGE: Readonly<Record<string, string>> = {
  AWSAccessKeyID: 'aws-access-key-id',
  AWSSecretAccessKey: 'aws-secret-access-key',
  IncomingWebhook: 'slack-webhook',
  PackageJSON_xOauthToken: 'github-token',
};

/** Reported by the same option as key ids, but AWS does not hold an account's number for a secret. */
const NO_SECRET = 'AWSAccountID';

export const PRESET_RULES: readonly PresetRule[] = (rules as readonly Rule[])
  .filter((rule) => nameOf(rule) !== COMMENT_FILTER)
  .map(adaptRule);

function nameOf(rule: Rule): string {
  return rule.meta.id.replace(ID_PREFIX, '');
}

function adaptRule(rule: Rule): PresetRule {
  const name = nameOf(rule);
  const gate = PRESET_GATES[name];
  return {
    name,
    anchors: gate?.anchors ?? [],
    mayMatch(text, offset) {
      if (gate === undefined) return true;
      gate.confirms.lastIndex = offset;
      return gate.confirms.test(text);
    },
    async run({ name: filePath, text }) {
      const reports: Report[] = [];
      const { file } = rule.create(contextFor(reports), OPTIONS[name] ?? {});
      await file?.({ content: text, filePath, ext: extensionFor(filePath), contentType: 'text' });
      return reports
        .filter((report) => report.message.messageId !== NO_SECRET)
        .map((report) => locate(report, name, text));
    },
  };
}

function contextFor(reports: Report[]): object {
  return {
    sharedOptions: {},
    createTranslator: () => (messageId: string, data: object) => ({ message: '', messageId, data }),
    report: (report: Report) => reports.push(report),
    ignore: () => undefined,
  };
}

/** Of all extensions rules ask for, `.p12` makes one read the named file from disk: never said. */
function extensionFor(filePath: string): string {
  return filePath.toLowerCase().endsWith('.json') ? '.json' : '';
}

/** Where a name belongs to the match, the range begins at the name but has the length of the value. */
function locate({ message, range }: Report, name: string, text: string): SecretMatch {
  const kind = KIND_BY_MESSAGE[message.messageId] ?? KIND_BY_RULE[name] ?? name;
  if (name === 'gcp') return locateServiceAccountKey(kind, text);
  const { KEY, TOKEN, ID, URL, URI, CREDENTIAL } = message.data;
  const value = [KEY, TOKEN, ID, URL, URI, CREDENTIAL].find((field) => typeof field === 'string');
  const start = typeof value === 'string' ? text.indexOf(value, range[0]) : -1;
  if (typeof value !== 'string' || start === -1) {
    return { kind, start: range[0], end: range[1], value: text.slice(range[0], range[1]) };
  }
  return { kind, start, end: start + value.length, value };
}

/** The rule reports the whole file; the key in it is the secret. Written with escapes it has no place of its own. */
function locateServiceAccountKey(kind: string, text: string): SecretMatch {
  const start = text.indexOf('-----BEGIN');
  const key = start === -1 ? undefined : privateKeyAt(text, start);
  return key === undefined ? { kind, start: 0, end: 1, value: text } : { ...key, kind };
}
