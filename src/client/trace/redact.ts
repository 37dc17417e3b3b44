/** Removes secrets (plain, percent-encoded or Base64) from text that is shown or logged. */
export type Redact = (text: string) => string;

const REDACTED = "[key removed]";
/** A shorter key would match ordinary words. */
const KEY_LENGTH_MIN = 4;

export function createRedactor(secrets: readonly string[]): Redact {
  const long = secrets.filter((secret) => secret.length >= KEY_LENGTH_MIN);
  return without(long.flatMap(formsOf));
}

/** Shorter keys can occur in people's data by chance. */
const UNMISTAKABLE_LENGTH = 16;

/** Removes only text that can't be anything but the key, because the data must not change. */
export function createEchoRedactor(apiKey: string): Redact {
  if (apiKey.length < KEY_LENGTH_MIN) return (text) => text;
  return without(apiKey.length < UNMISTAKABLE_LENGTH ? base64Forms(`${apiKey}:`) : formsOf(apiKey));
}

function formsOf(secret: string): string[] {
  return [secret, encodeURIComponent(secret), ...base64Forms(`${secret}:`), ...base64Forms(secret)];
}

function base64Forms(text: string): string[] {
  return [base64(text), base64(text).replace(/=+$/, "")];
}

function without(forms: readonly string[]): Redact {
  // Some servers escape slashes in JSON.
  const all = forms.flatMap((form) => [form, form.replaceAll("/", "\\/")]);
  const longestFirst = [...new Set(all)].toSorted((a, b) => b.length - a.length);
  return (text) =>
    longestFirst.reduce((rest, form) => (rest.includes(form) ? rest.replaceAll(form, REDACTED) : rest), text);
}

export function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
