import * as v from "valibot";
import { LOCALES } from "../../contract/locales.ts";
import { formatScoreSpan, readScoreSpan, SCORE_SPAN_FORM } from "../../contract/text/score-span.ts";
import { InvalidError } from "../domain/errors.ts";
import type { PublicLink } from "../domain/ports.ts";
import { type Brand, changeBrand, readBrand } from "../domain/projects/brand.ts";
import { changeTexts, readTexts, TEXT_NAMES, type TextName } from "../domain/projects/texts.ts";
import { addLink, findLink } from "../domain/links/survey-links.ts";
import { fromText, keyValues, typed } from "./define/fields.ts";
import { defineOperation, orNull, withoutNulls } from "./define/operation.ts";

const text = orNull(v.string());
const TEXT_FIELDS = Object.fromEntries(TEXT_NAMES.map((name) => [name, text])) as Record<TextName, typeof text>;

const scores = typed<string>(
  fromText((given) => {
    const range = readScoreSpan(given);
    return range === null ? null : formatScoreSpan(range);
  }),
  SCORE_SPAN_FORM,
);

export const pageOperations = {
  "link.add": defineOperation({
    access: "write",
    input: { name: v.string(), property: v.optional(keyValues, {}) },
    run: async (tx, project, { name, property: properties }, { appUrl }) =>
      toLinkInfo(await addLink(tx, project, name, properties), appUrl()),
  }),
  "link.list": defineOperation({
    access: "read",
    run: async (tx, project, _, { appUrl }) =>
      (await tx.links.list(project.id)).map((link) => toLinkInfo(link, appUrl())),
  }),
  "link.remove": defineOperation({
    access: "write",
    input: { id: v.string() },
    confirm: async (tx, project, { id }) => {
      const { name } = await findLink(tx, project, id);
      return { question: `Remove link "${name}"? Nobody can answer there; its responses stay.`, id, name };
    },
    run: async (tx, project, { id }) => {
      await tx.links.delete(project.id, (await findLink(tx, project, id)).id);
      return { id };
    },
  }),
  /** An empty string clears a value. `logo` is base64. */
  "brand.set": defineOperation({
    access: "write",
    input: { name: text, color: text, logo: text },
    run: async (tx, project, { name, color, logo }, { appUrl }) => {
      if (name === null && color === null && logo === null)
        throw new InvalidError({ name: ["specify at least one of name, color and logo"] });
      const brand = await changeBrand(tx, project, {
        ...(name !== null && { name: name === "" ? null : name }),
        ...(color !== null && { color: color === "" ? null : color }),
        ...(logo !== null && { logo: logo === "" ? null : Buffer.from(logo, "base64") }),
      });
      return toBrandInfo(brand, appUrl());
    },
  }),
  "brand.show": defineOperation({
    access: "read",
    run: async (tx, project, _, { appUrl }) => toBrandInfo(await readBrand(tx, project), appUrl()),
  }),
  /** Returns the texts of all scopes. An empty string clears a text. */
  "texts.set": defineOperation({
    access: "write",
    input: { locale: orNull(v.picklist(LOCALES)), score: orNull(scores), ...TEXT_FIELDS },
    run: (tx, project, { locale, score, ...texts }) => {
      const change = withoutNulls(texts);
      const [first = ""] = TEXT_NAMES;
      if (Object.keys(change).length === 0)
        throw new InvalidError({ [first]: [`specify at least one of ${TEXT_NAMES.join(", ")}`] });
      return changeTexts(tx, project, { locale, score }, change);
    },
  }),
  "texts.show": defineOperation({
    access: "read",
    run: (tx, project) => readTexts(tx, project),
  }),
};

function toBrandInfo({ name, accent, logo }: Brand, appUrl: string) {
  return {
    name,
    color: accent?.color ?? null,
    text_color: accent?.ink ?? null,
    logo_url: logo === null ? null : `${appUrl}/logo/${logo}`,
  };
}

function toLinkInfo({ id, name, token, properties, createdAt }: PublicLink, appUrl: string) {
  return { id: String(id), name, url: `${appUrl}/l/${token}`, properties, created_at: createdAt };
}
