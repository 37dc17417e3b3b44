import type { Html } from "../../contract/text/html.ts";
import { BROAD } from "./charts.ts";
import { REPORT_STYLE } from "./style.ts";

const OWN_STYLE = `svg{width:${BROAD.width}px;background:var(--paper);font-family:"Helvetica Neue",Helvetica,Arial,"Liberation Sans",sans-serif}`;

/** Adds the styles that a chart gets from the page around it. */
export function standaloneChart({ text }: Html): string {
  const chart = text.trim().replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"');
  const opening = chart.slice(0, chart.indexOf(">") + 1);
  return `${opening}<style>${REPORT_STYLE}${OWN_STYLE}</style>${chart.slice(opening.length)}\n`;
}
