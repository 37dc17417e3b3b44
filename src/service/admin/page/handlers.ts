/** The commands about pages, on an open store. */
import { type Brand, type BrandChange, changeBrand } from "../../domain/projects/brand.ts";
import type { PublicLink, Store } from "../../domain/ports.ts";
import { changeTexts, readTexts } from "../../domain/projects/texts.ts";
import { signResponseLink } from "../../domain/surveys/signed-links.ts";
import { addLink, listLinks, removeLink } from "../../domain/surveys/survey-links.ts";
import { AdminError, type Handlers } from "../commands.ts";
import { readInProject, requireProject, writeInProject } from "../in-project.ts";
import type { BrandInfo, LinkInfo, PageCommand } from "./commands.ts";

export interface PageAdminOptions {
  readonly store: Store;
  /** The beginning of links, without a slash at the end. */
  readonly appUrl: () => string;
}

export function createPageHandlers({ store, appUrl }: PageAdminOptions): Pick<Handlers, PageCommand["kind"]> {
  return {
    "link.add": ({ project, name, properties }) =>
      writeInProject(store, project, async (tx, found) =>
        toLinkInfo(await addLink(tx, found, name, properties), appUrl()),
      ),
    "link.list": ({ project }) =>
      store.read(async (tx) => {
        const links = await listLinks(tx, await requireProject(tx, project));
        return links.map((link) => toLinkInfo(link, appUrl()));
      }),
    "link.remove": ({ project, id }) =>
      writeInProject(store, project, async (tx, found) => {
        if (!(await removeLink(tx, found, id))) throw new AdminError(`project ${project} has no link ${id}`);
        return { id };
      }),
    brand: ({ project, name, color, logo }) => {
      const change: BrandChange = {
        ...(name === undefined ? {} : { name: name === "" ? null : name }),
        ...(color === undefined ? {} : { color: color === "" ? null : color }),
        ...(logo === undefined ? {} : { logo: logo === "" ? null : Buffer.from(logo, "base64") }),
      };
      const run = Object.keys(change).length === 0 ? readInProject : writeInProject;
      return run(store, project, async (tx, found) => toBrandInfo(await changeBrand(tx, found, change), appUrl()));
    },
    texts: ({ project, scope, change }) =>
      Object.keys(change).length === 0
        ? readInProject(store, project, readTexts)
        : writeInProject(store, project, (tx, found) => changeTexts(tx, found, scope, change)),
    "survey.link": ({ project, id }) =>
      writeInProject(store, project, async (tx, found) => {
        const path = await signResponseLink(tx, found, id);
        if (path === null) throw new AdminError(`project ${project} has no response ${id}`);
        return { url: appUrl() + path };
      }),
  };
}

function toLinkInfo({ id, name, token, properties, createdAt }: PublicLink, appUrl: string): LinkInfo {
  return { id: String(id), name, url: `${appUrl}/l/${token}`, properties, created_at: createdAt };
}

function toBrandInfo({ name, accent, logo }: Brand, appUrl: string): BrandInfo {
  return {
    name,
    color: accent?.color ?? null,
    text_color: accent?.ink ?? null,
    logo_url: logo === null ? null : `${appUrl}/logo/${logo}`,
  };
}
