export const PAGINATION_LOOP = 'pagination loop: the server returned the same "next" link twice';

/** Escapes characters at which some clients split the header. */
export function formatNextLink(url: string): string {
  const safe = url.replace(/[,;<>"\s]/g, (char) => encodeURIComponent(char));
  return `<${safe}>; rel="next"`;
}

const TARGET = /<([^>]*)>/y;
/** `; name=value` with an optional value, bare or in double or single quotes. */
const PARAMETER = /\s*;\s*(?:([^\s=;,"']+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^',;]*)'|([^",;\s]*)))?)?/y;

/** Target of the first `rel="next"` entry (RFC 8288), unresolved; null if there is none. */
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

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

const ASIDE = /<[^>]*>|\b(?!rel\b)[\w*-]+\s*=\s*"(?:[^"\\]|\\.)*"/gi;

/** True if a header that `parseNextLink` can't read might still name a next page. */
export function mayNameNext(header: string): boolean {
  return /\brel\s*=(?:[^,;]*[\s"'])?next(?:$|[\s"',;])/i.test(header.replace(ASIDE, ""));
}
