/** The `Link` header of cursor lists, section 4.1. */

/** Writes a `Link` header with one `rel="next"` entry; characters that clients split on are escaped. */
export function formatNextLink(url: string): string {
  const safe = url.replace(/[,;<>"\s]/g, (char) => encodeURIComponent(char));
  return `<${safe}>; rel="next"`;
}

/**
 * The target of the first `rel="next"` entry of a `Link` header, as it stands there (it may be relative);
 * null when there is none. Reads RFC 8288: several entries, quoted or bare parameters, several relations.
 */
export function parseNextLink(header: string): string | null {
  for (const [, target, parameters] of header.matchAll(
    /<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^",;\s]*))?)*)/g,
  )) {
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]+))/i.exec(parameters ?? "");
    const relations = (rel?.[1] ?? rel?.[2] ?? "").toLowerCase().split(/\s+/);
    if (relations.includes("next")) return target ?? null;
  }
  return null;
}
