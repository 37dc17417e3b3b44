/** Takes people's data out of text that is shown for debugging: JSON, URLs and plain words alike. */

const MASK = "***";

/** Names of fields whose value is somebody's. */
const PERSONAL_NAME = '(?:[^"\\\\]*(?:email|e-mail|phone|name|comment|text|free_response)[^"\\\\]*)';
const PERSONAL_FIELD = new RegExp(`("${PERSONAL_NAME}"\\s*:\\s*)"(?:[^"\\\\]|\\\\.)*"?`, "gi");
/** From a word's start, so that a long one is not looked at again from each of its letters. */
const EMAIL = /(?<![^\s"'<>@=&?/,;:()])[^\s"'<>@=&?/,;:()]+?(?:@|%40)[^\s"'<>@=&?/,;:()]+/gi;
const PHONE = /(?:\+|%2B)\d{6,15}\b/gi;
const PERSONAL_PARAMETER = /email|phone|name/i;
/** In a link or an address that is no whole URL. */
const PARAMETER = /([?&][^\s=&?"'<>]*=)[^\s"'<>&;]*/g;

/** Addresses, numbers, names and comments become `***`; the rest of the text stays. */
export function maskPersonalData(text: string): string {
  return text
    .replace(PERSONAL_FIELD, `$1"${MASK}"`)
    .replace(PARAMETER, (whole, name: string) => (PERSONAL_PARAMETER.test(name) ? `${name}${MASK}` : whole))
    .replace(EMAIL, `${MASK}@${MASK}`)
    .replace(PHONE, `+${MASK}`);
}

/** A URL with people's data taken out of its path and query. */
export function maskUrl(url: string): string {
  if (!URL.canParse(url)) return maskPersonalData(url);
  const { origin, pathname, search } = new URL(url);
  const pairs = search === "" ? [] : search.slice(1).split("&");
  const query = pairs.map((pair) => {
    const [name = "", value] = pair.split(/=(.*)/s);
    return value === undefined
      ? pair
      : `${name}=${PERSONAL_PARAMETER.test(name) ? MASK : maskPersonalData(decoded(value))}`;
  });
  return `${origin}${maskPersonalData(decoded(pathname))}${query.length === 0 ? "" : `?${query.join("&")}`}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
