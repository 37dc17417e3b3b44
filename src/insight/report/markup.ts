import { type Html, html, type HtmlValue } from "../../contract/text/html.ts";

/** As `html`, without the indentation of the source: hundreds of small parts would be twice as long with it. */
export function lean(parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  const short = parts.map((part) => part.replace(/\s*\n\s*/gu, "\n"));
  return html(Object.assign(short, { raw: parts.raw }), ...values);
}
