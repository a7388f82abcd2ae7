/**
 * When a rule of the preset can match at all: literals that every match holds, and what must stand at one of them.
 *
 * Read off the patterns of version 13.0.7. Each confirmation is a piece of the rule's own pattern, or that piece with
 * something left out, so it lets through whatever the rule would report. A rule without a line here always runs.
 */
import type { Anchored } from './anchor-index.ts';

/** The version the patterns below were read from; a test compares it with the one installed. */
export const GATED_PRESET_VERSION = '13.0.7';

export interface PresetGate extends Anchored {
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
      // The rule takes any amount of space around the operator; from four on nobody looks behind it here.
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
