import { EMAIL_SUBJECT_MAX, INTRO_MESSAGE_MAX } from "./limits.ts";

export interface SpecialProperty {
  readonly key: string;
  readonly effect: string;
  readonly maxLength?: number;
  /** Flag of `people add` and `autopilot add`, without dashes. */
  readonly flag: string;
  /** An older name that scripts still send. */
  readonly olderName?: string;
}

export const SPECIAL_PROPERTIES: readonly SpecialProperty[] = [
  {
    key: "question_product_name",
    flag: "product-name",
    effect: "product name used in the survey question",
  },
  {
    key: "service_email_subject",
    flag: "email-subject",
    effect: "survey e-mail subject",
    maxLength: EMAIL_SUBJECT_MAX,
    olderName: "delighted_email_subject",
  },
  {
    key: "service_intro_message",
    flag: "intro-message",
    effect: "intro message in the survey e-mail",
    maxLength: INTRO_MESSAGE_MAX,
    olderName: "delighted_intro_message",
  },
  { key: "locale", flag: "locale", effect: "survey language" },
  { key: "thank_you_message", flag: "thank-you-message", effect: "message on the thank-you page" },
  {
    key: "thank_you_link_text",
    flag: "thank-you-link-text",
    effect: "link text on the thank-you page",
  },
  {
    key: "thank_you_link_url",
    flag: "thank-you-link-url",
    effect: "link URL on the thank-you page",
  },
];

/** Keys, including older names, whose text belongs to a single message. `locale` stays with the person. */
export const MESSAGE_TEXTS: ReadonlySet<string> = new Set(
  SPECIAL_PROPERTIES.filter(({ key }) => key !== "locale").flatMap(({ key, olderName = key }) => [key, olderName]),
);
