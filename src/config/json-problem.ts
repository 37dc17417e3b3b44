/** Where JSON is invalid. Only some versions of Node report the position, and their messages quote the text. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

const TOKEN =
  /\s*(?:([{}[\]:,])|("(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/uy;

export function findJsonProblem(text: string): Place {
  const open: string[] = [];
  let wanted: "value" | "key" | "colon" | "next" = "value";
  let mayClose = false;
  TOKEN.lastIndex = 0;
  for (let from = 0; ; from = TOKEN.lastIndex) {
    const match = TOKEN.exec(text);
    if (match === null) return toPlace(text, from);
    const [, sign = "", name = ""] = match;
    const at = TOKEN.lastIndex - match[0].trimStart().length;
    const closes = (sign === "}" || sign === "]") && (wanted === "next" || mayClose) && open.at(-1) === sign;
    if (closes) open.pop();
    const fits =
      closes ||
      (wanted === "value" && ![":", ",", "}", "]"].includes(sign)) ||
      (wanted === "key" && name !== "") ||
      (wanted === "colon" && sign === ":") ||
      (wanted === "next" && sign === "," && open.length > 0);
    if (!fits) return toPlace(text, at);
    const begins = wanted === "value" && (sign === "{" || sign === "[");
    if (begins) open.push(sign === "{" ? "}" : "]");
    mayClose = begins;
    if (begins || sign === ",") wanted = open.at(-1) === "}" ? "key" : "value";
    else if (wanted === "key" && !closes) wanted = "colon";
    else wanted = sign === ":" ? "value" : "next";
  }
}

function toPlace(text: string, from: number): Place {
  const rest = text.slice(from);
  const at = from + (rest.trim() === "" ? 0 : rest.length - rest.trimStart().length);
  const before = text.slice(0, at).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}
