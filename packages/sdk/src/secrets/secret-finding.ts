/** What the scanner reports about a secret: place and kind, never the secret itself. */

export interface SecretFinding {
  /** Stable kind, such as `github-token`. */
  readonly rule: string;
  /** From 1; lines end at a line feed. */
  readonly line: number;
  /** From 1, in UTF-16 units (bytes in binary content); a byte order mark does not count. */
  readonly column: number;
  /** The kind in words. Fixed per kind, so that nothing of the text can get into it. */
  readonly message: string;
  /** SHA-256 of the found value in hex, by which an exception names it. */
  readonly fingerprint: string;
}

/** With the secret itself; does not leave this folder. */
export interface SecretMatch {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

/** The higher rank wins: a value the host knows, then a format, then a guess. */
const GUESS = 0;
const LOOSE = 1;
const FORMAT = 2;
const EXACT = 3;
const KNOWN = 4;

interface SecretKind {
  readonly title: string;
  readonly rank: number;
}

const KINDS: Readonly<Record<string, SecretKind>> = {
  '1password-token': { title: '1Password service account token', rank: FORMAT },
  'anthropic-key': { title: 'Anthropic API key', rank: FORMAT },
  'aws-access-key-id': { title: 'AWS access key id', rank: FORMAT },
  'aws-secret-access-key': { title: 'AWS secret access key', rank: FORMAT },
  'basic-auth-url': { title: 'URL with a user name and a password', rank: LOOSE },
  'bearer-token': { title: 'Bearer token in an authorization header', rank: LOOSE },
  'cloudflare-token': { title: 'Cloudflare API token', rank: FORMAT },
  'database-url': { title: 'Database URL with a user name and a password', rank: LOOSE },
  'databricks-token': { title: 'Databricks access token', rank: FORMAT },
  'discord-webhook': { title: 'Discord webhook URL', rank: FORMAT },
  'docker-token': { title: 'Docker access token', rank: FORMAT },
  'figma-token': { title: 'Figma access token', rank: FORMAT },
  'gcp-service-account-key': { title: 'Private key of a Google Cloud service account', rank: EXACT },
  'generic-assignment': { title: 'Random-looking value under the name of a secret', rank: GUESS },
  'github-token': { title: 'GitHub token', rank: FORMAT },
  'gitlab-token': { title: 'GitLab token', rank: FORMAT },
  'google-api-key': { title: 'Google API key', rank: FORMAT },
  'google-oauth-secret': { title: 'Google OAuth client secret', rank: FORMAT },
  'grafana-token': { title: 'Grafana token', rank: FORMAT },
  'groq-key': { title: 'Groq API key', rank: FORMAT },
  'hashicorp-vault-token': { title: 'HashiCorp Vault token', rank: FORMAT },
  'huggingface-token': { title: 'Hugging Face access token', rank: FORMAT },
  jwt: { title: 'JSON Web Token', rank: LOOSE },
  'known-secret': { title: 'Value the host holds as a secret', rank: KNOWN },
  'linear-token': { title: 'Linear API token', rank: FORMAT },
  'notion-token': { title: 'Notion integration token', rank: FORMAT },
  'npm-token': { title: 'npm access token', rank: FORMAT },
  'openai-key': { title: 'OpenAI API key', rank: FORMAT },
  'private-key': { title: 'Private key', rank: FORMAT },
  'sendgrid-key': { title: 'SendGrid API key', rank: FORMAT },
  'shopify-key': { title: 'Shopify key', rank: FORMAT },
  'slack-token': { title: 'Slack token', rank: FORMAT },
  'slack-webhook': { title: 'Slack webhook URL', rank: FORMAT },
  'stripe-key': { title: 'Stripe API key', rank: FORMAT },
  'stripe-webhook-secret': { title: 'Stripe webhook secret', rank: FORMAT },
  'tailscale-key': { title: 'Tailscale key', rank: FORMAT },
  'vercel-token': { title: 'Vercel token', rank: FORMAT },
};

/**
 * Every kind of secret in words, and which kind is kept when several were seen in the same place. Kinds come from rule
 * tables, some of which belong to a dependency: one without a line here is a format too.
 */
export function describeKind(kind: string): SecretKind {
  return KINDS[kind] ?? { title: `Secret of the kind ${kind}`, rank: FORMAT };
}
