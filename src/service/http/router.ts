import { PLATFORMS } from "../../contract/resources.ts";
import { ROUTES, type Route, type RouteName } from "../../contract/routes.ts";

export interface Match {
  readonly name: RouteName;
  readonly route: Route;
  /** Decoded, without `.json`. */
  readonly placeholders: Readonly<Record<string, string>>;
  /** The last placeholder with its `.json`, which may be part of the value; otherwise null. */
  readonly unstripped: string | null;
  readonly hasSuffix: boolean;
}

export type Found = Match | { readonly allow: string } | null;

interface Template {
  readonly segments: readonly string[];
  readonly names: Map<string, RouteName>;
}

const SUFFIX = ".json";
const PLATFORM_NAMES: ReadonlySet<string> = new Set(PLATFORMS);

/** Templates with the most fixed segments come first, so that `/pending` isn't read as an id. */
function readTemplates(): Template[] {
  const byPath = new Map<string, Template>();
  for (const name of Object.keys(ROUTES) as RouteName[]) {
    const { path, method } = ROUTES[name];
    const template = byPath.get(path) ?? { segments: path.split("/"), names: new Map<string, RouteName>() };
    template.names.set(method, name);
    byPath.set(path, template);
  }
  const fixed = ({ segments }: Template): number => segments.filter((segment) => !segment.startsWith("{")).length;
  return [...byPath.values()].toSorted((left, right) => fixed(right) - fixed(left));
}

const TEMPLATES = readTemplates();

/** Returns the endpoint, or the `Allow` header if the path exists without this method, or null. */
export function findRoute(method: string, path: string): Found {
  const hasSuffix = path.endsWith(SUFFIX);
  const segments = (hasSuffix ? path.slice(0, -SUFFIX.length) : path).split("/");
  for (const template of TEMPLATES) {
    const placeholders = fill(template.segments, segments);
    if (placeholders === null) continue;
    const name = template.names.get(method === "HEAD" ? "GET" : method);
    if (name === undefined) return { allow: allowedMethods(template) };
    return { name, route: ROUTES[name], placeholders, unstripped: unstripped(template, path, hasSuffix), hasSuffix };
  }
  return null;
}

function fill(template: readonly string[], segments: readonly string[]): Record<string, string> | null {
  if (template.length !== segments.length) return null;
  const placeholders: Record<string, string> = {};
  for (const [index, expected] of template.entries()) {
    const segment = segments[index] ?? "";
    if (!expected.startsWith("{")) {
      if (segment !== expected) return null;
      continue;
    }
    const value = decode(segment);
    if (value === null || value === "" || (expected === "{platform}" && !PLATFORM_NAMES.has(value))) return null;
    placeholders[expected.slice(1, -1)] = value;
  }
  return placeholders;
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

function unstripped({ segments }: Template, path: string, hasSuffix: boolean): string | null {
  return hasSuffix && segments.at(-1)?.startsWith("{") === true ? decode(path.slice(path.lastIndexOf("/") + 1)) : null;
}

function allowedMethods({ names }: Template): string {
  const methods = [...names.keys()];
  return (methods.includes("GET") ? [...methods, "HEAD"] : methods).toSorted().join(", ");
}

/** Parsed by hand, because `new URL` would cost more than reading the row. */
export interface Target {
  /** Scheme, host and port, without a trailing slash. */
  readonly origin: string;
  readonly path: string;
  readonly query: string;
}

export function parseTarget(url: string): Target {
  const hostAt = url.indexOf("://") + 3;
  const fragmentAt = url.indexOf("#", hostAt);
  const end = fragmentAt < 0 ? url.length : fragmentAt;
  const queryAt = url.indexOf("?", hostAt);
  const pathEnd = queryAt < 0 || queryAt > end ? end : queryAt;
  const slashAt = url.indexOf("/", hostAt);
  const pathAt = slashAt < 0 || slashAt > pathEnd ? pathEnd : slashAt;
  return { origin: url.slice(0, pathAt), path: url.slice(pathAt, pathEnd) || "/", query: url.slice(pathEnd + 1, end) };
}

const PAGE = /^\/+([sulrd])\/+(.*)$/i;
/** Punctuation that followed a link in a sentence, possibly percent-encoded. Our links never end like that. */
const AFTER_LINK = /(?:%[\da-f]{2}|[^\w-]){1,20}$/i;

/** Repairs links damaged by mail programs and people: `/S/TOKEN`, `//s/TOKEN`, `/s/TOKEN).`, `/s/TOKEN%3Fscore%3D9`. */
export function repairLink(target: Target): Target {
  const { path, query } = target;
  const [, page, rest = ""] = PAGE.exec(path) ?? [];
  if (page === undefined) return target;
  const link = `${rest}?${query}`.replace(AFTER_LINK, "");
  const [kept = "", ...fields] = link.split(/\?|%3F/i);
  if (kept === "") return target;
  const given = fields.join("&").replaceAll(/%26/g, "&").replaceAll(/%3D/gi, "=");
  return { ...target, path: `/${page.toLowerCase()}/${kept}`, query: given };
}
