/**
 * The commands of `service link`, `service brand`, `service texts` and `service survey link`, and their answers.
 */
import type { JsonObject } from "../../../contract/json.ts";
import type { ProjectTexts, TextChange, TextScope } from "../../domain/projects/texts.ts";

export type PageCommand =
  | {
      readonly kind: "link.add";
      readonly project: string;
      readonly name: string;
      readonly properties: Readonly<Record<string, string>>;
    }
  | { readonly kind: "link.list"; readonly project: string }
  | { readonly kind: "link.remove"; readonly project: string; readonly id: string }
  /** Changes what is given, and shows all; an empty text takes a part back. `logo` is base64. */
  | {
      readonly kind: "brand";
      readonly project: string;
      readonly name?: string;
      readonly color?: string;
      readonly logo?: string;
    }
  /** Changes what is given of one scope, and shows the texts of all. */
  | { readonly kind: "texts"; readonly project: string; readonly scope: TextScope; readonly change: TextChange }
  | { readonly kind: "survey.link"; readonly project: string; readonly id: string };

export interface LinkInfo {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly properties: JsonObject;
  readonly created_at: number;
}

export interface BrandInfo {
  readonly name: string | null;
  readonly color: string | null;
  /** Of text on the colour. */
  readonly text_color: string | null;
  readonly logo_url: string | null;
}

export interface PageResults {
  "link.add": LinkInfo;
  "link.list": readonly LinkInfo[];
  "link.remove": { readonly id: string };
  brand: BrandInfo;
  texts: readonly ProjectTexts[];
  "survey.link": { readonly url: string };
}
