import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";
import { singleLine } from "../texts/plain-text.ts";
import { type Brand, NO_BRAND, toBrand } from "./brand.ts";
import { type ProjectSettings, toSettings } from "./settings.ts";
import { type ProjectTexts, toTexts } from "./texts.ts";

export interface Presentation {
  readonly brand: Brand;
  readonly settings: ProjectSettings;
  readonly texts: readonly ProjectTexts[];
}

export const NO_PRESENTATION: Presentation = { brand: NO_BRAND, settings: toSettings(new Map()), texts: [] };

export async function readPresentation(tx: Transaction, project: Pick<Project, "id">): Promise<Presentation> {
  const stored = await tx.projects.settings(project.id);
  return { brand: toBrand(stored), settings: toSettings(stored), texts: toTexts(stored) };
}

/** The name to show on pages and in texts, or null. A project named `default` isn't shown. */
export function shownName(
  { brand, settings }: Presentation,
  project: Project,
  { senderName, productName }: Readonly<Record<"senderName" | "productName", string | null>>,
): string | null {
  const known = brand.name ?? settings.senderName ?? senderName ?? productName;
  return singleLine(known ?? (project.name === "default" ? "" : project.name)) || null;
}

/** `Acme (shop)`: the display name, and the project's name if it differs; null if there is neither. */
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
