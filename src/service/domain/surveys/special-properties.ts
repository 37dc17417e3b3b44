/** The meaning of the special keys of `properties`, section 2 "Special properties". */
import { characterCount } from "../../../contract/limits.ts";
import { effectiveLocale, type Locale } from "../../../contract/locales.ts";
import type { Properties } from "../../../contract/resources.ts";
import { SPECIAL_PROPERTIES } from "../../../contract/special-properties.ts";
import { InvalidError } from "../errors.ts";

/** The special properties of one survey, null where none was given. */
export interface SpecialProperties {
  readonly productName: string | null;
  readonly emailSubject: string | null;
  readonly introMessage: string | null;
  readonly locale: Locale;
  readonly thankYouMessage: string | null;
  readonly thankYouLinkText: string | null;
  readonly thankYouLinkUrl: string | null;
}

/** Reads the special keys, older names included; a locale outside the supported list is `en`. */
export function readSpecialProperties(properties: Properties): SpecialProperties {
  return {
    productName: read(properties, "question_product_name"),
    emailSubject: read(properties, "service_email_subject"),
    introMessage: read(properties, "service_intro_message"),
    locale: effectiveLocale(read(properties, "locale")),
    thankYouMessage: read(properties, "thank_you_message"),
    thankYouLinkText: read(properties, "thank_you_link_text"),
    thankYouLinkUrl: read(properties, "thank_you_link_url"),
  };
}

function read(properties: Properties, key: string): string | null {
  const special = SPECIAL_PROPERTIES.find((one) => one.key === key);
  const names = special?.olderName === undefined ? [key] : [key, special.olderName];
  return names.map((name) => toText(ownValue(properties, name))).find((text) => text !== "") ?? null;
}

/** Throws an InvalidError that names every over-long special property as the caller wrote it. */
export function checkSpecialProperties(properties: Properties): void {
  const tooLong = LIMITED.filter(({ name, max }) => {
    const value = ownValue(properties, name);
    return value !== undefined && characterCount(toText(value)) > max;
  });
  if (tooLong.length === 0) return;
  throw new InvalidError(
    Object.fromEntries(tooLong.map(({ name, max }) => [name, [`is too long (maximum is ${max} characters)`]])),
  );
}

/** Names, older ones included, and characters at most. */
const LIMITED = SPECIAL_PROPERTIES.flatMap(({ key, olderName, maxLength: max }) =>
  max === undefined ? [] : [key, ...(olderName === undefined ? [] : [olderName])].map((name) => ({ name, max })),
);

function ownValue(properties: Properties, name: string): unknown {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}
