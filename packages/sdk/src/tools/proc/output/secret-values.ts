/** Hides the values a caller passed under a secret's name, should the command print them. */

const SECRET_NAME = /TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|APIKEY|API_KEY|PRIVATE|AUTH/i;
const SHORTEST = 6;

export class SecretValues {
  readonly #values: readonly string[];

  constructor(environment: Readonly<Record<string, string>>) {
    this.#values = Object.entries(environment)
      .filter(([name, value]) => SECRET_NAME.test(name) && value.length >= SHORTEST)
      .map(([, value]) => value)
      .sort((a, b) => b.length - a.length);
  }

  hide(text: string): string {
    return this.#values.reduce((hidden, value) => hidden.replaceAll(value, '[redacted]'), text);
  }
}
