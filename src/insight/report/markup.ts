import { type Html, html, type HtmlValue } from "../../contract/text/html.ts";

/** Like `html`, but without the source's indentation, which would double the size of small parts. */
export function lean(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const short = parts.map((part) => part.replace(/\s*\n\s*/gu, "\n"));
  return html(Object.assign(short, { raw: parts.raw }), ...values);
}
