/** Strips a returned message to its structure: parsing ten megabytes of photos would take seconds and gigabytes. */

/** More than any server returns; the rest is ignored. */
const MAX_BYTES = 10 * 1024 * 1024;
const MAX_NEEDED_CHARACTERS = 256 * 1024;

const REPORT = /^content-type:\s*message\/(?:(?:global-)?delivery-status|feedback-report)\b/im;
const RETURNED = /^content-type:\s*(?:message\/(?:rfc822|global)|text\/rfc822-headers)\b/im;

type Place = "header" | "report" | "returned" | "body";

/** Keeps headers, reports, the returned message's header, and lines that could be boundaries. */
export function neededLines(raw: Uint8Array): Uint8Array {
  const text = Buffer.from(raw.buffer, raw.byteOffset, Math.min(raw.byteLength, MAX_BYTES)).toString("latin1");
  const message = (text.includes("\n") ? text : text.replaceAll("\r", "\n")).replace(/^[\r\n]+/, "");
  const kept: string[] = [];
  let place: Place = "header";
  let header = "";
  let room = MAX_NEEDED_CHARACTERS;
  // Iterates, because an array of the lines could have millions of strings.
  for (const [line] of message.matchAll(/[^\n]+\n?|\n/g)) {
    if (line.startsWith("--")) [place, header] = ["header", ""];
    else if (place === "body") continue;
    else if (line.trim() !== "") header += place === "report" ? "" : line;
    else if (place === "header") [place, header] = [bodyPlace(header), ""];
    else if (place === "returned" && header !== "") place = "body";
    room -= line.length;
    if (room < 0) break;
    kept.push(line);
  }
  return Buffer.from(kept.join(""), "latin1");
}

function bodyPlace(header: string): Place {
  if (REPORT.test(header)) return "report";
  return RETURNED.test(header) ? "returned" : "body";
}
