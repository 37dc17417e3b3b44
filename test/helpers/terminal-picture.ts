import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";

const COLOURS: Readonly<Record<string, string>> = {
  "30": "#21262d",
  "31": "#ff7b72",
  "32": "#56d364",
  "33": "#e3b341",
  "34": "#79c0ff",
  "35": "#d2a8ff",
  "36": "#76e3ea",
  "90": "#8b949e",
};
const CELL = { width: 8.4, height: 19 };
const MARGIN = 16;
const BAR = 28;

interface Style {
  readonly bold: boolean;
  readonly dim: boolean;
  readonly colour: string | null;
}
const PLAIN: Style = { bold: false, dim: false, colour: null };

/** The final screen: overwritten text and cursor codes are dropped. */
export function shownLines(output: string): string[] {
  return output
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => (line.split(OVERWRITTEN).at(-1) ?? "").replaceAll(MOVES, ""));
}

export function plainLines(lines: readonly string[]): string[] {
  return lines.map((line) => stripVTControlCharacters(line).trimEnd());
}

const ESCAPE = String.fromCharCode(27);
const OVERWRITTEN = new RegExp(`\\r|${ESCAPE}\\[1?G`);
const MOVES = new RegExp(`${ESCAPE}\\[[?\\d;]*[A-LN-Za-ln-z]`, "g");
const COLOUR = new RegExp(`(${ESCAPE}\\[[\\d;]*m)`);

export function drawTerminal(lines: readonly string[], columns: number, title: string): string {
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN);
  const height = Math.ceil(lines.length * CELL.height + 2 * MARGIN + BAR);
  const dots = ["#ff5f56", "#ffbd2e", "#27c93f"].map(
    (fill, index) => `<circle cx="${MARGIN + 6 + index * 18}" cy="${BAR / 2 + 4}" r="5.5" fill="${fill}"/>`,
  );
  const rows = lines.flatMap((line, index) => drawLine(line, BAR + MARGIN + (index + 0.8) * CELL.height));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escapeXml(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>`,
    ...dots,
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" fill="#e6edf3">`,
    ...rows,
    "</g>",
    "</svg>",
    "",
  ].join("\n");
}

function drawLine(line: string, y: number): string[] {
  const pieces: string[] = [];
  let style = PLAIN;
  let column = 0;
  for (const part of line.split(COLOUR)) {
    if (part.startsWith(`${ESCAPE}[`)) style = restyle(style, part.slice(2, -1));
    else {
      // SVG collapses repeated spaces.
      for (const { 0: words, index } of part.matchAll(/\S+(?: \S+)*/g)) {
        const at = column + stringWidth(part.slice(0, index));
        pieces.push(drawPiece(words, style, { column: at, length: stringWidth(words), y }));
      }
      column += stringWidth(part);
    }
  }
  return pieces;
}

/** `textLength` keeps columns aligned in any font. */
function drawPiece(text: string, style: Style, at: { column: number; length: number; y: number }): string {
  const x = (MARGIN + at.column * CELL.width).toFixed(1);
  const attributes = [
    `x="${x}" y="${at.y.toFixed(1)}" textLength="${(at.length * CELL.width).toFixed(1)}"`,
    ...(style.colour === null ? [] : [`fill="${style.colour}"`]),
    ...(style.bold ? ['font-weight="bold"'] : []),
    ...(style.dim ? ['opacity="0.7"'] : []),
  ];
  return `<text ${attributes.join(" ")}>${escapeXml(text)}</text>`;
}

function restyle(style: Style, codes: string): Style {
  let next = style;
  for (const code of codes.split(";")) {
    if (code === "" || code === "0") next = PLAIN;
    else if (code === "1") next = { ...next, bold: true };
    else if (code === "2") next = { ...next, dim: true };
    else if (code === "22") next = { ...next, bold: false, dim: false };
    else if (code === "39") next = { ...next, colour: null };
    else if (code in COLOURS) next = { ...next, colour: COLOURS[code] ?? null };
  }
  return next;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
