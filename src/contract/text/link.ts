/** The `Link` header of cursor lists, section 4.1. */

/** Writes a `Link` header with one `rel="next"` entry; characters that clients split on are escaped. */
export function formatNextLink(url: string): string {
  const safe = url.replace(/[,;<>"\s]/g, (char) => encodeURIComponent(char));
  return `<${safe}>; rel="next"`;
}

const TARGET = /<([^>]*)>/y;
/** `; name=value`, the value bare or between quotes, single ones too; also a semicolon with nothing behind it. */
const PARAMETER = /\s*;\s*(?:([^\s=;,"']+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^',;]*)'|([^",;\s]*)))?)?/y;

/**
 * The target of the first `rel="next"` entry of a `Link` header, as it stands there (it may be relative);
 * null when there is none. Reads RFC 8288: several entries, quoted or bare parameters, several relations.
 */
export function parseNextLink(header: string): string | null {
  for (let start = header.indexOf("<"); start !== -1; start = header.indexOf("<", start)) {
    const found = matchAt(TARGET, header, start);
    if (found === null) return null;
    const { relations, end } = readRelations(header, start + found[0].length);
    if (relations.includes("next")) return found[1] ?? null;
    start = end;
  }
  return null;
}

/** The relations of the parameters from `start` on: of several `rel` the first counts. */
function readRelations(header: string, start: number): { readonly relations: readonly string[]; readonly end: number } {
  let rel: string | null = null;
  let end = start;
  for (let found = matchAt(PARAMETER, header, end); found !== null; found = matchAt(PARAMETER, header, end)) {
    const [whole, name = "", quoted, single, bare] = found;
    end += whole.length;
    if (name.toLowerCase() === "rel") rel ??= quoted ?? single ?? bare ?? "";
  }
  return { relations: (rel ?? "").toLowerCase().split(/\s+/), end };
}

/** `pattern` is sticky. */
function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Text that says nothing about relations: targets, and other parameters between quotes. */
const ASIDE = /<[^>]*>|\b(?!rel\b)[\w*-]+\s*=\s*"(?:[^"\\]|\\.)*"/gi;

/** True when a header that `parseNextLink` finds no target in names a next page all the same. */
export function mayNameNext(header: string): boolean {
  return /\brel\s*=(?:[^,;]*[\s"'])?next(?:$|[\s"',;])/i.test(header.replace(ASIDE, ""));
}
