/**
 * The rules of secretlint's recommended preset, called one by one.
 *
 * Not its comment filter, by which a scanned text could switch the scan off, and not its engine, which keeps a timing
 * mark of every run for the life of the process and compares every report with every other.
 */
import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import type { Anchored } from './anchor-index.ts';
import type { SecretMatch } from './secret-finding.ts';
import { privateKeyAt } from './shape-detectors.ts';

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

/** What a rule passes on, of which the translated sentence would hold the secret. */
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

/** Reported by the same option as key ids, but AWS does not consider account numbers secret. */
const NO_SECRET = 'AWSAccountID';

/**
 * When a rule of the preset can match at all: literals that every match contains, and what must be at one of them.
 *
 * Read off the patterns of version 13.0.7. Each confirmation is a piece of the rule's own pattern, or that piece with
 * something left out, so it accepts everything the rule would report. A rule without a line here always runs.
 *
 * The version the patterns below were read from; a test compares it with the one installed.
 */
export const GATED_PRESET_VERSION = '13.0.7';

interface PresetGate extends Anchored {
  /** Sticky, tried where an anchor begins. */
  readonly confirms: RegExp;
}

const AWS_KEY_IDS = ['akia', 'agpa', 'aida', 'aroa', 'aipa', 'anpa', 'anva', 'asia', 'a3t'];

/** By the last part of the rule's id. */
export const PRESET_GATES: Readonly<Record<string, PresetGate>> = {
  '1password': { anchors: ['ops_ey'], confirms: /ops_ey[A-Za-z0-9+/=]{100}/y },
  anthropic: { anchors: ['sk-ant-api0'], confirms: /sk-ant-api0\d-[A-Za-z0-9_-]{90}/y },
  aws: {
    anchors: [...AWS_KEY_IDS, 'secret'],
    confirms:
      // The rule takes any amount of space around the operator; from four on, what follows is not checked here.
      /A(?:3T[A-Z0-9]|KIA|GPA|IDA|ROA|IPA|NPA|NVA|SIA)[A-Z0-9]{16}|(?:SECRET|[Ss]ecret)_?(?:ACCESS|[Aa]ccess)_?(?:KEY|[Kk]ey)["']?(?:\s{4}|\s{0,3}(?::|=>?)(?:\s{4}|\s{0,3}["']?[A-Za-z0-9/+=]{40}))/y,
  },
  basicauth: { anchors: ['://'], confirms: /:\/\/[-a-zA-Z0-9_]{1,256}:[-a-zA-Z0-9_]{1,256}@/y },
  cloudflare: { anchors: ['cfk_', 'cfut_', 'cfat_'], confirms: /cf(?:k|ut|at)_[A-Za-z0-9]{48}/y },
  'database-connection-string': { anchors: ['://'], confirms: /:\/\/[^:/\s]{1,100}:[^@/\s]{1,200}@/y },
  databricks: { anchors: ['dapi'], confirms: /dapi[A-Fa-f0-9]{32}/y },
  docker: { anchors: ['dckr_pat_'], confirms: /dckr_pat_[a-zA-Z0-9_-]{27}/y },
  figma: { anchors: ['figd_'], confirms: /figd_[A-Za-z0-9_-]{40}/y },
  // Parsed as JSON, where the name may be written with escapes; of ASCII characters they all begin like this.
  gcp: { anchors: ['private_key_id', '\\u00'], confirms: /private_key_id|\\u00/y },
  github: {
    anchors: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'],
    confirms: /gh[pousr]_[A-Za-z0-9_]{36}|github_pat_[A-Za-z0-9_]{82}|ghs_[0-9]{1,20}_[A-Za-z0-9_-]/y,
  },
  gitlab: { anchors: ['glpat-'], confirms: /glpat-[A-Za-z0-9_-]{20}/y },
  grafana: { anchors: ['glc_', 'glsa_'], confirms: /glc_[A-Za-z0-9+/]{32}|glsa_[A-Za-z0-9]{32}_/y },
  groq: { anchors: ['gsk_'], confirms: /gsk_[a-zA-Z0-9]{52}/y },
  'hashicorp-vault': { anchors: ['hvs.', 'hvb.', 'hvr.'], confirms: /hv[sbr]\.[A-Za-z0-9_-]{90}/y },
  huggingface: { anchors: ['hf_'], confirms: /hf_[a-zA-Z]{34}/y },
  linear: { anchors: ['lin_api_'], confirms: /lin_api_[a-zA-Z0-9_]{32}/y },
  notion: { anchors: ['ntn_'], confirms: /ntn_[0-9]{11}[A-Za-z0-9]{35}/y },
  npm: {
    anchors: ['npm_', '_authtoken=', ':x-oauth-basic@github'],
    confirms: /npm_[A-Za-z0-9_]{36}|_authToken=[^$]|:x-oauth-basic@github/y,
  },
  openai: { anchors: ['t3blbkfj'], confirms: /T3BlbkFJ[A-Za-z0-9_-]{20}/y },
  privatekey: {
    anchors: ['-----begin'],
    confirms: /-----BEGIN[ ]?(?:(?:RSA|DSA|EC|OPENSSH|PGP) )?PRIVATE KEY(?: BLOCK)?-----/y,
  },
  sendgrid: { anchors: ['sg.'], confirms: /SG\.\w{1,128}\.\w/y },
  shopify: { anchors: ['shppa_', 'shpca_', 'shpat_', 'shpss_'], confirms: /shp(?:pa|ca|at|ss)_[a-zA-Z0-9]{32}/y },
  slack: {
    anchors: ['xoxb-', 'xoxp-', 'xapp-', 'xoxa-', 'xoxo-', 'xoxr-', 'hooks.slack.com/services/'],
    confirms: /(?:xox[bpaor]|xapp)-[a-z0-9]|hooks\.slack\.com\/services\/t/iy,
  },
  stripe: {
    anchors: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'],
    confirms: /[sr]k_(?:live|test)_[a-zA-Z0-9]{24}/y,
  },
  tailscale: { anchors: ['tskey-'], confirms: /tskey-[a-z]{2,20}-[0-9A-Za-z_]{8}/y },
  vercel: { anchors: ['vcp_', 'vci_', 'vca_', 'vcr_', 'vck_'], confirms: /vc[piark]_[A-Za-z0-9]{20}/y },
};

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
