/** Section 2: a leading `+`, the country code, then the number; only `+` and digits. */
const E164 = /^\+[1-9]\d{6,14}$/;

export function isE164(value: string): boolean {
  return E164.test(value);
}
