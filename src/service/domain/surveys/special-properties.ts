/** The special keys of `properties` (section 2 "Special properties"). */
import { characterCount } from "../../../contract/limits.ts";
import { plainText } from "../../../contract/json.ts";
import { effectiveLocale, type Locale } from "../../../contract/locales.ts";
import type { Properties } from "../../../contract/resources.ts";
import { SPECIAL_PROPERTIES, type SpecialProperty } from "../../../contract/special-properties.ts";
import { InvalidError } from "../errors.ts";

export interface SpecialProperties {
  readonly productName: string | null;
  readonly emailSubject: string | null;
  readonly introMessage: string | null;
  readonly locale: Locale;
  readonly thankYouMessage: string | null;
  readonly thankYouLinkText: string | null;
  readonly thankYouLinkUrl: string | null;
}

/** Also accepts older names. An unsupported locale means `en`. */
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
  return names.map((name) => plainText(ownValue(properties, name))).find((text) => text !== "") ?? null;
}

/** The InvalidError lists every invalid property under the name that the caller used. */
export function checkSpecialProperties(properties: Properties): void {
  const wrong = BY_NAME.flatMap(({ name, special }) => {
    const problem = findProblem(special, ownValue(properties, name));
    return problem === null ? [] : [[name, [problem]] as const];
  });
  if (wrong.length > 0) throw new InvalidError(Object.fromEntries(wrong));
}

const BY_NAME = SPECIAL_PROPERTIES.flatMap((special) =>
  [special.key, special.olderName].flatMap((name) => (name === undefined ? [] : [{ name, special }])),
);

/** Matches a URL scheme. `example.com:8080/thanks` has none. */
const SCHEME = /^\s*(?:[a-z][a-z\d+-]*:|[a-z][a-z\d+.-]*:\/\/)/i;

function findProblem({ key, maxLength }: SpecialProperty, value: unknown): string | null {
  // Any other value of `locale` means English (section 2).
  const isText = typeof value !== "boolean" && (typeof value !== "object" || value === null);
  if (!isText && key !== "locale") return "must be text";
  const text = plainText(value);
  if (maxLength !== undefined && characterCount(text) > maxLength)
    return `is too long (maximum is ${maxLength} characters)`;
  const isMisleading = key === "thank_you_link_url" && text.trim() !== "" && !SCHEME.test(text);
  return isMisleading ? "must be a URL with a scheme, such as https://example.com" : null;
}

function ownValue(properties: Properties, name: string): unknown {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}
