/** Section 2: a leading `+`, the country code, then the number; only `+` and digits. */
export const E164 = /^\+[1-9]\d{6,14}$/;

/** True when text has the form of a phone number. A check of form, not of existence. */
export function isE164(value: string): boolean {
  return E164.test(value);
}
