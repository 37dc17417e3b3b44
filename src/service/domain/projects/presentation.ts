/** The ways in which a project presents itself to people: its brand, the name of its sender, and its own words. */
import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";
import { singleLine } from "../texts/plain-text.ts";
import { type Brand, NO_BRAND, toBrand } from "./brand.ts";
import { type ProjectSettings, toSettings } from "./settings.ts";
import { type ProjectTexts, toTexts } from "./texts.ts";

export interface Presentation {
  /** As it was set. */
  readonly brand: Brand;
  readonly settings: ProjectSettings;
  readonly texts: readonly ProjectTexts[];
}

/** Of a project that has set nothing. */
export const NO_PRESENTATION: Presentation = { brand: NO_BRAND, settings: toSettings(new Map()), texts: [] };

export async function readPresentation(tx: Transaction, project: Pick<Project, "id">): Promise<Presentation> {
  const stored = await tx.projects.settings(project.id);
  return { brand: toBrand(stored), settings: toSettings(stored), texts: toTexts(stored) };
}

interface OtherNames {
  /** Of the process. */
  readonly senderName: string | null;
  readonly productName: string | null;
}

/** The name that people read on pages and in texts; null for none. The name `default` says nothing to anybody. */
export function shownName(
  { brand, settings }: Presentation,
  project: Project,
  { senderName, productName }: OtherNames,
): string | null {
  const known = brand.name ?? settings.senderName ?? senderName ?? productName;
  return singleLine(known ?? (project.name === "default" ? "" : project.name)) || null;
}

/** `Acme (shop)`: the name that people read, and the project's where that is another; null for neither. */
export function fullName(
  presentation: Presentation,
  project: Project,
  senderName: string | null = null,
): string | null {
  const name = shownName(presentation, project, { senderName, productName: null });
  const own = project.name === "default" ? null : singleLine(project.name);
  if (name === null || own === null || name.toLowerCase() === own.toLowerCase()) return name;
  return `${name} (${own})`;
}
