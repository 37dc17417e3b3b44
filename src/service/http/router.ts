/** Finds the endpoint that a method and a URL name, out of the contract's table. */
import { PLATFORMS } from "../../contract/resources.ts";
import { ROUTES, type Route, type RouteName } from "../../contract/routes.ts";

export interface Match {
  readonly name: RouteName;
  readonly route: Route;
  /** Decoded; without the `.json` suffix. */
  readonly placeholders: Readonly<Record<string, string>>;
  /** The last placeholder as it came, when it ends in `.json`, which then may be part of it; else null. */
  readonly unstripped: string | null;
  readonly hasSuffix: boolean;
}

export type Found = Match | { readonly allow: string } | null;

interface Template {
  readonly segments: readonly string[];
  readonly names: Map<string, RouteName>;
}

const SUFFIX = ".json";

/** `find(method, path)`: the endpoint; the `Allow` of a path without this method; null for an unknown path. */
export function createRouter(): (method: string, path: string) => Found {
  const templates = readTemplates();
  return (method, path) => {
    const hasSuffix = path.endsWith(SUFFIX);
    const segments = (hasSuffix ? path.slice(0, -SUFFIX.length) : path).split("/");
    for (const template of templates) {
      const placeholders = fill(template.segments, segments);
      if (placeholders === null) continue;
      const name = template.names.get(method === "HEAD" ? "GET" : method);
      if (name === undefined) return { allow: allowed(template) };
      return { name, route: ROUTES[name], placeholders, unstripped: unstripped(template, path, hasSuffix), hasSuffix };
    }
    return null;
  };
}

/** Paths with more fixed segments come first, so that `/pending` is not taken for an id. */
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
    if (value === null || value === "" || (expected === "{platform}" && !isPlatform(value))) return null;
    placeholders[expected.slice(1, -1)] = value;
  }
  return placeholders;
}

function isPlatform(value: string): boolean {
  return (PLATFORMS as readonly string[]).includes(value);
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

function allowed({ names }: Template): string {
  const methods = [...names.keys()];
  return (methods.includes("GET") ? [...methods, "HEAD"] : methods).toSorted().join(", ");
}

/** A request's URL taken apart. `new URL` would cost more than finding the row that is asked for. */
export interface Target {
  /** Scheme, host and port, without a slash at the end. */
  readonly origin: string;
  /** As it came, percent-encoded. */
  readonly path: string;
  /** Without `?`; empty when there is none. */
  readonly query: string;
}

/** `url` is absolute. */
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

/** The pages that links in messages lead to. */
const PAGE = /^\/+([sulrd])\/+(.*)$/i;
/** The end of a sentence or a bracket around a link, also percent-encoded. No link of ours ends like that. */
const AFTER_LINK = /(?:%[\da-f]{2}|[^\w-]){1,20}$/i;

/**
 * Mail programs and people damage links: `/S/TOKEN`, `//s/TOKEN`, `/s/TOKEN).`, `/s/TOKEN%3Fscore%3D9`. Other targets
 * are returned as they are.
 */
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
