/** One `@` with something on both sides; no white space, controls, or characters that lists and headers split on. */
const EMAIL = /^[^\s@<>,;:"()[\]\\\p{Cc}]+@[^\s@<>,;:"()[\]\\\p{Cc}.]+(?:\.[^\s@<>,;:"()[\]\\\p{Cc}.]+)*$/u;
const EMAIL_LENGTH_MAX = 254;

/** Whether text has the form of an e-mail address. A check of form, not of existence. */
export function isEmail(value: string): boolean {
  return value.length <= EMAIL_LENGTH_MAX && EMAIL.test(value);
}

/** The key under which two spellings of an e-mail address name the same person: compared without regard to case. */
export function emailKey(email: string): string {
  return email.toLowerCase();
}
