import * as v from "valibot";
import { LOCALES } from "../../contract/locales.ts";
import { NotFoundError } from "../domain/errors.ts";
import type { PublicLink } from "../domain/ports.ts";
import { changeBrand } from "../domain/projects/brand.ts";
import { changeTexts, readTexts, TEXT_NAMES, type TextName } from "../domain/projects/texts.ts";
import { addLink, listLinks, removeLink } from "../domain/surveys/survey-links.ts";
import { defineOperation, withoutNulls, orNull, writesIfGiven } from "./define/operation.ts";

const text = orNull(v.string());
const TEXT_FIELDS = Object.fromEntries(TEXT_NAMES.map((name) => [name, text])) as Record<TextName, typeof text>;

export const pageOperations = {
  "link.add": defineOperation({
    scope: "project",
    access: "write",
    input: { name: v.string(), properties: v.record(v.string(), v.string()) },
    run: async (tx, project, { name, properties }, { appUrl }) =>
      toLinkInfo(await addLink(tx, project, name, properties), appUrl()),
  }),
  "link.list": defineOperation({
    scope: "project",
    access: "read",
    input: {},
    run: async (tx, project, _, { appUrl }) => (await listLinks(tx, project)).map((link) => toLinkInfo(link, appUrl())),
  }),
  "link.remove": defineOperation({
    scope: "project",
    access: "write",
    input: { id: v.string() },
    confirm: async (tx, project, { id }) => {
      const found = (await listLinks(tx, project)).find((one) => String(one.id) === id);
      if (found === undefined) return null;
      const { name } = found;
      return { question: `Remove link "${name}"? Nobody can answer there; its responses stay.`, id, name };
    },
    run: async (tx, project, { id }) => {
      if (!(await removeLink(tx, project, id))) throw new NotFoundError(`project ${project.name} has no link ${id}`);
      return { id };
    },
  }),
  /** Changes the given values and returns all; empty text clears one. `logo` is base64. */
  brand: defineOperation({
    scope: "project",
    access: writesIfGiven(),
    input: { name: text, color: text, logo: text },
    run: async (tx, project, { name, color, logo }, { appUrl }) => {
      const brand = await changeBrand(tx, project, {
        ...(name !== null && { name: name === "" ? null : name }),
        ...(color !== null && { color: color === "" ? null : color }),
        ...(logo !== null && { logo: logo === "" ? null : Buffer.from(logo, "base64") }),
      });
      return {
        name: brand.name,
        color: brand.accent?.color ?? null,
        text_color: brand.accent?.ink ?? null,
        logo_url: brand.logo === null ? null : `${appUrl()}/logo/${brand.logo}`,
      };
    },
  }),
  /** Changes the given texts of one scope and returns those of all scopes; empty text clears one. */
  texts: defineOperation({
    scope: "project",
    access: writesIfGiven("locale", "score"),
    input: { locale: orNull(v.picklist(LOCALES)), score: text, ...TEXT_FIELDS },
    run: (tx, project, { locale, score, ...texts }) => {
      const change = withoutNulls(texts);
      return Object.keys(change).length === 0
        ? readTexts(tx, project)
        : changeTexts(tx, project, { locale, score }, change);
    },
  }),
};

function toLinkInfo({ id, name, token, properties, createdAt }: PublicLink, appUrl: string) {
  return { id: String(id), name, url: `${appUrl}/l/${token}`, properties, created_at: createdAt };
}
