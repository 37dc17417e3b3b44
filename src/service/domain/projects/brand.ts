import { createHash } from "node:crypto";
import { SENDER_NAME_MAX } from "../../../contract/limits.ts";
import { textFault } from "../../../contract/text/storable.ts";
import { InvalidError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";

export interface Brand {
  readonly name: string | null;
  readonly accent: Accent | null;
  /** Id of the logo in `/logo/<id>`. A new picture gets a new id. */
  readonly logo: string | null;
}

/** A fill color for buttons, and the color of the text on it, both `#rrggbb`. */
export interface Accent {
  readonly color: string;
  readonly ink: string;
  /** The color of links, readable on light and on dark backgrounds. */
  readonly link: { readonly light: string; readonly dark: string };
}

export const NO_BRAND: Brand = { name: null, accent: null, logo: null };

export interface Logo {
  readonly type: "image/png" | "image/jpeg" | "image/svg+xml";
  readonly bytes: Uint8Array;
}

/** Omitted fields keep their value; null resets one. */
export interface BrandChange {
  readonly name?: string | null;
  readonly color?: string | null;
  readonly logo?: Uint8Array | null;
}

const NAMES = { name: "brand_name", color: "brand_color", logo: "brand_logo", logoId: "brand_logo_id" } as const;

export async function readBrand(tx: Transaction, project: Project): Promise<Brand> {
  return toBrand(await tx.projects.settings(project.id));
}

export function toBrand(stored: ReadonlyMap<string, string>): Brand {
  const color = stored.get(NAMES.color);
  return {
    name: stored.get(NAMES.name) ?? null,
    accent: color === undefined ? null : readAccent(color),
    logo: stored.get(NAMES.logoId) ?? null,
  };
}

/** Null if the logo has been replaced. */
export async function readLogo(tx: Transaction, id: string): Promise<Logo | null> {
  const project = await tx.projects.bySetting(NAMES.logoId, id);
  const text = project === null ? undefined : (await tx.projects.settings(project.id)).get(NAMES.logo);
  if (text === undefined) return null;
  const bytes = Buffer.from(text, "base64");
  const type = logoType(bytes);
  return type === null ? null : { type, bytes };
}

export async function changeBrand(tx: Transaction, project: Project, change: BrandChange): Promise<Brand> {
  const { name, color, logo } = change;
  const wrong = brandProblems(change);
  if (wrong.length > 0) throw new InvalidError(Object.fromEntries(wrong.map(([part, problem]) => [part, [problem]])));
  const set = (setting: string, value: string | null): Promise<void> =>
    tx.projects.setSetting(project.id, setting, value);
  if (name !== undefined) await set(NAMES.name, name?.trim() ?? null);
  if (color !== undefined) await set(NAMES.color, color === null ? null : longColor(color));
  if (logo !== undefined) {
    await set(NAMES.logo, logo === null ? null : Buffer.from(logo).toString("base64"));
    await set(NAMES.logoId, logo === null ? null : tx.token());
  }
  return readBrand(tx, project);
}

export function brandProblems({ name, color, logo }: BrandChange): [keyof BrandChange, string][] {
  const problems: [keyof BrandChange, string | null][] = [
    ["name", name === undefined || name === null ? null : textFault(name.trim(), { max: SENDER_NAME_MAX })],
    ["color", color === undefined || color === null ? null : colorProblem(color)],
    ["logo", logo === undefined || logo === null ? null : logoProblem(logo)],
  ];
  return problems.flatMap(([part, problem]) => (problem === null ? [] : [[part, problem]]));
}

const COLOR = /^#(?:[\da-f]{3}|[\da-f]{6})$/i;
const CONTRAST_MIN = 4.5;
const INKS = ["#ffffff", "#1d2329"] as const;

function colorProblem(color: string): string | null {
  if (!COLOR.test(color)) return "is not a color such as #0a7 or #00aa77";
  if (readAccent(longColor(color)) !== null) return null;
  const best = Math.max(...INKS.map((ink) => contrast(longColor(color), ink)));
  return `cannot carry readable text: contrast ${best.toFixed(2)} with white or dark text, must be at least 4.5`;
}

function longColor(color: string): string {
  const text = color.toLowerCase();
  return text.length === 7 ? text : text.replaceAll(/[^#]/g, "$&$&");
}

function readAccent(color: string): Accent | null {
  const ink = INKS.find((one) => contrast(color, one) >= CONTRAST_MIN);
  if (ink === undefined) return null;
  return { color, ink, link: { light: readableOn(color, DAY), dark: readableOn(color, NIGHT) } };
}

/** The backgrounds on which links have the least contrast. */
const DAY = "#f3f4f6";
const NIGHT = "#1f252c";
const SHADES = 20;

/** The color itself, or the nearest darker or lighter shade that is readable on `ground`. */
function readableOn(color: string, ground: string): string {
  const end = luminance(ground) > 0.5 ? 0 : 255;
  const shades = Array.from({ length: SHADES + 1 }, (_, step) => mixed(color, end, step / SHADES));
  return shades.find((shade) => contrast(shade, ground) >= CONTRAST_MIN) ?? color;
}

/** Mixes a share of black (`end` is 0) or white (255) into a color. */
function mixed(color: string, end: number, share: number): string {
  const parts = rgb(color).map((part) => Math.round(part + (end - part) * share));
  return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function rgb(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
}

/** The contrast of two `#rrggbb` colors, from 1 to 21 (WCAG 2.2, "contrast ratio"). */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].toSorted((left, right) => right - left);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = rgb(color).map((value) => {
    const part = value / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const LOGO_MAX = 32 * 1024;
/** SVG features that run code or embed pages. */
const ACTIVE_SVG =
  /<!(?:doctype|entity)|<\s*(?:\w+:)?(?:script|foreignobject|iframe|animate|set)\b|\son\w+\s*=|javascript:/i;
const FETCHING_SVG = /(?:href|src)\s*=\s*["']?\s*(?!#|["'#])|url\(\s*(?:["']\s*)?[^#"'\s)]|@import/i;

function logoProblem(bytes: Uint8Array): string | null {
  if (bytes.byteLength > LOGO_MAX) return `is too large (maximum is ${LOGO_MAX / 1024} KB)`;
  const type = logoType(bytes);
  if (type === null) return "is not a PNG, JPEG or SVG file";
  if (type !== "image/svg+xml") return null;
  const text = new TextDecoder().decode(bytes);
  if (ACTIVE_SVG.test(text)) return "is an SVG with a script or something else that acts";
  return FETCHING_SVG.test(text) ? "is an SVG that loads something from elsewhere" : null;
}

function logoType(bytes: Uint8Array): Logo["type"] | null {
  const [first, second, third, fourth] = bytes;
  if (first === 0x89 && second === 0x50 && third === 0x4e && fourth === 0x47) return "image/png";
  if (first === 0xff && second === 0xd8 && third === 0xff) return "image/jpeg";
  const start = new TextDecoder().decode(bytes.subarray(0, 1000));
  return /^<svg[\s>]/.test(withoutProlog(start)) ? "image/svg+xml" : null;
}

function withoutProlog(start: string): string {
  let rest = start
    .trimStart()
    .replace(/^<\?xml[^>]*>/, "")
    .trimStart();
  while (rest.startsWith("<!--") && rest.includes("-->", 4)) rest = rest.slice(rest.indexOf("-->", 4) + 3).trimStart();
  return rest;
}

export function describeLogo(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  return `${bytes.byteLength} bytes, sha256 ${createHash("sha256").update(bytes).digest("hex").slice(0, 12)}`;
}
