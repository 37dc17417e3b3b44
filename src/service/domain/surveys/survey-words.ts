/** A survey's special properties; the project's texts are the defaults. */
import type { Properties } from "../../../contract/resources.ts";
import type { Presentation } from "../projects/presentation.ts";
import { findText, type TextName } from "../projects/texts.ts";
import { readSpecialProperties, type SpecialProperties } from "./special-properties.ts";

export interface SurveyWords extends SpecialProperties {
  /** Shown above the comment field; null uses the language's default. */
  readonly commentQuestion: string | null;
  /** Can name the product as `{product}`; null uses the language's default. */
  readonly question: string | null;
}

/** `score` is null before the answer. Without a product name, the question asks about the brand. */
export function surveyWords(
  special: SpecialProperties,
  { brand, texts }: Pick<Presentation, "brand" | "texts">,
  score: number | null,
): SurveyWords {
  const own = (name: TextName): string | null => findText(texts, name, { locale: special.locale, score });
  return {
    locale: special.locale,
    productName: special.productName ?? own("product_name") ?? brand.name,
    emailSubject: special.emailSubject ?? own("subject"),
    introMessage: special.introMessage ?? own("intro"),
    thankYouMessage: special.thankYouMessage ?? own("thank_you"),
    thankYouLinkUrl: special.thankYouLinkUrl ?? own("thank_you_link"),
    thankYouLinkText: special.thankYouLinkText ?? own("thank_you_link_text"),
    commentQuestion: own("comment_question"),
    question: own("question"),
  };
}

export function readSurveyWords(
  properties: Properties,
  presentation: Pick<Presentation, "brand" | "texts">,
  score: number | null = null,
): SurveyWords {
  return surveyWords(readSpecialProperties(properties), presentation, score);
}
