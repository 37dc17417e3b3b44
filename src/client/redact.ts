/** Takes the key, plain, percent-encoded and in its Base64 forms, out of text that is shown or logged. */
export type Redact = (text: string) => string;

const REDACTED = "[key removed]";
/** A shorter key would take words apart; no service issues such. */
const KEY_LENGTH_MIN = 4;

/** Each form of the key becomes `[key removed]`. */
export function createRedactor(apiKey: string): Redact {
  if (apiKey.length < KEY_LENGTH_MIN) return (text) => text;
  const forms = [apiKey, encodeURIComponent(apiKey), base64(`${apiKey}:`), base64(apiKey), base64(apiKey).replace(/=+$/, "")];
  const longestFirst = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((rest, form) => rest.replaceAll(form, REDACTED), text);
}

export function base64(text: string): string {
  return Buffer.from(text, "utf8").toString("base64");
}
